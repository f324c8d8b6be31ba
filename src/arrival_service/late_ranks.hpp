// Which ranks come late to a call site, learnt at no messages of its own.
//
// A record is piggybacked on messages of the call (executor/program/piggyback.hpp): who arrives
// latest and when, and when the last rank has left the call before. After the call all ranks hold
// the same record, so all learn the same from it - who was late, and what the call before took from
// the last arrival on - and act on it at the next call without a word.
//
// Where calls are planned over nodes a record names these: a node comes when the last of its ranks
// does, and which of them that is may change from call to call.
//
// Three records in a row that name the same put a view into force by which the next calls are
// planned. It is there while the records name the same ranks - two that do not end it - and while
// it pays: some calls, drawn by their number, are served as if nothing were known, and medians of
// what both took are compared. Where nobody is late, calls carry a record ever more rarely.
//
// Equal calls may stand on several lines of the program, with other late ranks at each. The record
// says from which one rank 0 has made the call, so what it tells goes to that line, on all ranks
// alike; and where lines take turns (arrival/call_cycle.hpp) a call is planned by the view of the
// line whose turn it is. Until that is known all lines are one.
//
// Records need one clock (clock.hpp). Between hosts it is compared before the first record, and
// again when the record says that clocks may have run off too far.
//
// Thread safety: none; MPI lets one collective run at a time on a communicator.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrival/call_lines.hpp"
#include "arrival/view.hpp"
#include "arrival_service/clock.hpp"
#include "executor/program/piggyback.hpp"

namespace sibyl {

class LateRanks {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The last few of some times.
  class RecentTimes {
   public:
    void add(std::int64_t nanoseconds) { times_[count_++ % times_.size()] = nanoseconds; }
    void forget() { count_ = 0; }
    std::size_t count() const { return count_ < times_.size() ? count_ : times_.size(); }
    std::int64_t median() const;  // of one or more

   private:
    std::array<std::int64_t, 8> times_{};
    std::size_t count_ = 0;
  };

  // Ranks or nodes in their order, the rest of the array -1.
  using Names = std::array<std::int64_t, Piggyback::most_late>;
  static constexpr Names nobody{-1, -1, -1, -1};

  // What calls from one line of the program have told; the same on all ranks.
  struct Line {
    SharedView view;  // nullptr: none
    Names named_by_view = nobody;
    Names named = nobody;                                    // by the last record
    std::array<RecentTimes, Piggyback::most_late> lateness;  // of each of them
    int alike = 0;                                           // records that named them in a row
    int missed = 0;                                          // that did not name the view's
    // From the last arrival to the last departure, of calls planned by the view and of others.
    RecentTimes known;
    RecentTimes unknown;
    std::int64_t not_before = 0;  // number of the call before which no view is made
    std::int64_t pause = 64;      // so many calls, when it does not pay
  };

  // Calls of as many bytes; the same on all ranks, but for the departure.
  struct Site {
    std::uint64_t bytes = 0;
    std::int64_t made = 0;      // calls, with those that the MPI library has served
    std::int64_t calls = 0;     // without them
    std::uint64_t version = 0;  // of the last view
    CallLines told_apart;
    CallTurns turns;
    std::array<Line, 1 + most_call_lines> lines;  // the first: all together
    // Of the last call: its last arrival, where it carried a record and was from the line that it
    // was taken to be from; that line, and how it was planned.
    std::int64_t last_arrival = Piggyback::never;
    std::size_t last_line = 0;
    bool followed = false;
    std::int64_t interval = 1;     // of calls that carry a record
    std::int64_t next_record = 1;  // number of the call that does

    std::int64_t departure = Piggyback::never;

    // By which the next call is planned; nullptr: by none.
    const SharedView& next_view() const {
      return lines[static_cast<std::size_t>(turns.line_of(made + 1))].view;
    }
  };

  // One call. `record` is to go with it where it `carries` one.
  struct Call {
    Site* site = nullptr;  // nullptr: more sites than are kept
    std::size_t line = 0;  // from which it is taken to be made
    bool carries = false;
    bool of_nodes = false;  // its record names these
    SharedView view;        // by which it is planned; nullptr: by none
    double late_from = 0;
    Piggyback record;
  };

  // Of one rank; `nodes`: that of each, the same on all ranks. By this clock, which must outlive
  // it.
  LateRanks(Rank rank, std::vector<Rank> nodes, const CommonClock& clock)
      : rank_(rank), nodes_(std::move(nodes)), clock_(&clock) {}

  // All ranks are to compare their clocks before the next call, and say so.
  bool wants_clocks_compared() const { return wants_clocks_compared_; }
  void clocks_compared() {
    wants_clocks_compared_ = false;
    calls_since_comparison_ = 0;
  }

  // A call of this site begins. Ranks, or of_nodes nodes, that come `late_from` seconds after the
  // first are late; the same on all ranks. May throw std::bad_alloc.
  Call enter(std::uint64_t bytes, double late_from, Time now, bool of_nodes = false);
  // A call of this site that the MPI library serves: it counts, since lines take turns by number.
  void pass(std::uint64_t bytes);
  // Views that are there no longer, and the one that was made; nullptr: none.
  struct Change {
    std::array<SharedView, 2> withdrawn;
    SharedView made;
  };
  // It is over; the record is that of all ranks. May throw std::bad_alloc.
  Change leave(const Call& call, Time now);

  // The site; nullptr where no call of it has been seen.
  const Site* known(std::uint64_t bytes) const;

  static constexpr int records_needed = 3;
  static constexpr int records_missed = 2;
  static constexpr int records_of_nobody = 8;  // until calls carry them more rarely
  static constexpr std::int64_t longest_interval = 64;
  static constexpr std::int64_t longest_pause = 1 << 20;
  static constexpr std::uint64_t trial_of = 32;  // one in so many
  static constexpr std::size_t samples_needed = 3;
  static constexpr double has_to_save = 0.98;
  static constexpr double clock_may_be_off = 0.1;  // of what makes a rank late
  // Between hosts a comparison takes some round trips.
  static constexpr std::int64_t calls_between_comparisons = 512;
  static constexpr std::size_t most_sites = 16;

 private:
  Site* find(std::uint64_t bytes);
  Change learn(const Call& call);
  SharedView learn_of_line(Site& site, Line& line, const Call& call, SharedView& made) const;
  static void observe(Line& line, const Piggyback& record, double late_from);
  static SharedView forget(Line& line);
  void publish(Site& site, Line& line, bool of_nodes) const;
  static SharedView withdraw(const Site& site, Line& line);
  static bool pays(const Line& line);
  static bool is_quiet(const Site& site);
  static void plan_next_record(Site& site);

  Rank name_of(Rank rank, bool of_nodes) const {
    return of_nodes ? nodes_[static_cast<std::size_t>(rank)] : rank;
  }

  Rank rank_;
  std::vector<Rank> nodes_;
  const CommonClock* clock_;
  bool wants_clocks_compared_ = true;
  std::int64_t calls_since_comparison_ = 0;
  std::vector<std::unique_ptr<Site>> sites_;
};

}  // namespace sibyl
