// How the ranks of a communicator come to know who will be late, and act on it at the same call.
//
// Every rank keeps, per collective, root and bytes, when it joined and left the last few calls. At
// calls that all ranks can count it sends this to rank 0, without waiting for anybody. Rank 0
// predicts (arrival/site_history.hpp) and makes a new version of a site's arrival pattern when the
// order of the ranks has changed. What then happens is the mode:
//
// - root-led: only the roots of linear algorithms are told, and use the arrival pattern once they
//   have it. Nobody else hears anything, and no root waits: one that has reported a site of its own
//   is owed one result, and receives it whenever it comes.
// - periodic, background: all ranks are told, and all change over at the call that comes
//   `calls_in_flight` + 1 after that of the exchange. A rank that gets there before the result
//   waits for it: it would be that many calls ahead of the slowest one. While no order changes,
//   exchanges become rarer. In the background the progress thread moves them between calls, so that
//   nobody waits for a rank 0 that computes; a rank without a thread does so within its calls.
//
// Calls are counted once their arguments have been judged: what a rank refuses alone it has not
// called, and what it finds wrong later it has. That a call is a trial - native, or in the other
// order - follows from its number alone, so that all ranks agree on it too; so the gain is
// measured, and an order that costs more than it brings is given up by the same agreement.
//
// Calls that have all this in common may stand on several lines of the program, and other ranks be
// late at each. Rank 0 tells them apart by where its own calls come from, with a history for each
// line, and with the patterns tells all ranks which numbers of calls are whose
// (arrival/call_cycle.hpp). What other ranks call from is never looked at, so that nothing can put
// them out of step. Where lines take no regular turns, one pattern is that of all.
//
// Between hosts, clocks run off from each other, until orders are within the error. Where all ranks
// are told, rank 0 has them compared again by then, at the call at which its result comes into
// force; that may take a hundredth of the time at most.
//
// A communicator that is freed, or a rank that is gone, leaves no hang: what is under way is waited
// for a second at most, and then cancelled, or left to the MPI library where it might not be.
//
// Thread safety: one caller at a time, besides the thread.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "arrival/call_cycle.hpp"
#include "arrival/site_history.hpp"
#include "arrival/view.hpp"
#include "arrival_service/clock.hpp"
#include "executor/executor.hpp"
#include "executor/progress_thread.hpp"
#include "selection/settings.hpp"

namespace sibyl {

// What calls must have in common to be predicted together.
struct CallSite {
  Collective collective = Collective::gather;
  Rank root = 0;
  std::uint64_t bytes = 0;
  bool operator==(const CallSite&) const = default;
};

class ArrivalPredictor final : public BackgroundWork {
 public:
  static constexpr int tags = 2;
  struct Parties {
    MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
    Rank rank = 0;
    Rank ranks = 1;
    int tag = 0;            // the first of ArrivalPredictor::tags
    std::int64_t host = 0;  // as CommonClock::synchronise() has it
  };

  struct Site {
    CallSite key;

    // A place in the program from which calls of this site are made; the first, of all of them.
    struct Line {
      // What is in force here; nullptr: nothing yet. In root-led mode only the site's root has one.
      SharedView view;
      bool pays = true;                      // its order is to be used
      std::unique_ptr<SiteHistory> history;  // at rank 0

      std::uint64_t version() const { return view == nullptr ? 0 : view->version; }
    };
    std::array<Line, 1 + most_call_lines> lines;
    CallTurns turns;                   // in force
    std::vector<std::int64_t> places;  // of the lines, at rank 0

    struct Record {
      std::int64_t number = 0;
      std::int64_t arrival = 0;  // nanoseconds, common clock
      std::int64_t departure = 0;
      Service service = Service::native;
      int line = 0;  // known at rank 0 alone
    };
    static constexpr std::size_t window = 8;
    std::array<Record, window> recent{};
    std::size_t recorded = 0;
    std::int64_t last_fed = 0;  // the last call that the histories have seen
  };

  // How a call is to be served.
  struct Call {
    Site* site = nullptr;              // nullptr: not predicted
    const Site::Line* line = nullptr;  // whose pattern holds for it
    int made_from = 0;                 // known at rank 0 alone
    Service service = Service::fixed_order;
  };

  // `clock` must outlive it, and is compared again.
  ArrivalPredictor(const Parties& parties, PredictionMode mode, CommonClock& clock);
  ~ArrivalPredictor();
  // The communicator goes: no message stays under way, which may take a second where a rank is
  // behind. False where one of this rank's has been given up, so that another rank's may still come
  // to it.
  [[nodiscard]] bool finish();
  ArrivalPredictor(const ArrivalPredictor&) = delete;
  ArrivalPredictor& operator=(const ArrivalPredictor&) = delete;

  // Counts a call that all ranks make. May send, and in periodic mode wait.
  void begin_call();
  // The call that was begun is one of this site. `usable`: the order would be followed. `place`:
  // where in the program it was made, which rank 0 alone looks at; 0: nobody knows.
  Call enter(const CallSite& key, bool usable, std::int64_t place = 0);
  // It is over.
  void leave(const Call& call);
  // From now on this thread looks for messages too. Whoever destroys this first withdraws it there.
  void work_in(ProgressThread* thread) { thread_ = thread; }
  bool has_thread() const { return thread_ != nullptr; }
  Outcome progress() noexcept override;

  // What is in force for the line that the call which was begun is taken to be made from; of line 0
  // where lines are not told apart. nullptr: nothing yet.
  struct InForce {
    const SharedView* view = nullptr;
    int line = 0;
  };
  InForce in_force(const CallSite& key);
  // The site; nullptr when no call of it has been seen.
  const Site* known(const CallSite& key) { return find(key, false); }

  PredictionMode mode() const { return mode_; }
  std::int64_t calls() const { return calls_; }
  // Called at a rank when an arrival pattern comes into force there, with the view before: for all
  // calls of the site together, or for those of one line.
  using Hear = std::function<void(const CallSite& site, int line, const ArrivalPattern& pattern,
                                  const SharedView& before)>;
  void on_new_pattern(Hear hear) { hear_ = std::move(hear); }
  // Where all ranks are told: called within a call, once it is known what will come into force at a
  // later one.
  using Foresee = std::function<void(const CallSite& site, std::span<const double> times)>;
  void on_coming_pattern(Foresee foresee) { foresee_ = std::move(foresee); }
  // What the thread, where there is one, does ahead of that later call.
  void work_ahead(ProgressHook* hook) { hook_ = hook; }

  // Calls are trials by their number: one in sixteen native, two in the order that is not in force.
  static Service trial_of(std::int64_t call, Service in_force);

  static constexpr std::int64_t first_exchange = 12;
  static constexpr std::int64_t calls_in_flight = 8;
  static constexpr std::int64_t shortest_interval = 16;
  static constexpr std::int64_t longest_interval = 1024;
  static constexpr double clock_may_be_off = 0.1;  // of the time from the first rank to the last
  static constexpr std::int64_t calls_between_comparisons = 512;
  static constexpr double comparisons_budget = 0.01;    // of the time
  static constexpr std::size_t most_sites = 16;         // that are kept
  static constexpr std::size_t sites_of_a_message = 4;  // the latest
  static constexpr std::size_t patterns_of_a_message = 8;

 private:
  enum class Phase : std::uint8_t {
    quiet,             // no exchange is under way
    exchanging,        // this rank expects messages of one
    result_here,       // its result waits for the call at which it comes into force
    result_announced,  // and what it will bring has been said
    failed,            // MPI has, or there was no memory: nothing is predicted any more
  };

  bool leads() const { return parties_.rank == 0; }
  bool tells_all() const { return mode_ != PredictionMode::root_led; }
  std::unique_lock<std::mutex> keep_thread_out();
  void look();
  Site* find(const CallSite& key, bool make);
  void begin_exchange();
  void write_report(std::int64_t* report) const;
  // The number of the site among all.
  std::size_t kind_of(const Site& site) const;
  int line_from(Site& site, std::int64_t place);
  double largest_error(std::size_t word) const;
  double clock_error() const;
  bool clocks_have_run_off() const;
  void compare_clocks();
  void predict();
  bool feed(Site& site);
  bool tell(Site& site, std::size_t& count);
  bool write_pattern(const Site& site, std::size_t line, const CallTurns& turns,
                     std::uint64_t& version, double* part) const;
  void write_result();
  void send_result();
  void wait_for_result();
  void expect_result();
  void take_result();
  struct Told {
    CallSite key;
    std::size_t line = 0;
    std::int64_t period = 0;
    std::uint32_t remainders = 0;
    std::uint64_t version = 0;
    bool pays = true;
    double error = 0;
    std::span<const double> times;
  };
  Told told_in_result(std::size_t index) const;
  void announce_result();
  void apply_result();
  void leave_sends();
  bool fail(int error);

  std::mutex mutex_;
  ProgressThread* thread_ = nullptr;
  Parties parties_;
  PredictionMode mode_;
  CommonClock& clock_;
  // When clocks were compared last, and for how long.
  std::int64_t compared_at_call_ = 0;
  std::chrono::steady_clock::time_point compared_at_;
  std::chrono::steady_clock::duration comparison_{};
  Hear hear_;
  Foresee foresee_;
  ProgressHook* hook_ = nullptr;
  std::vector<std::unique_ptr<Site>> sites_;
  CallCycle cycle_;  // at rank 0
  std::chrono::steady_clock::time_point arrival_;
  std::int64_t calls_ = 0;
  std::int64_t next_exchange_ = first_exchange;
  std::int64_t interval_ = shortest_interval;
  std::int64_t exchange_ = 0;  // the call of the exchange under way, or of the last one
  Phase phase_ = Phase::quiet;
  bool ending_ = false;   // the communicator goes
  bool finished_ = true;  // and no message of its was given up

  std::vector<std::int64_t> reports_;      // own; at rank 0 those of all ranks
  std::vector<double> result_;             // empty while the only one is owed
  std::vector<std::vector<double>> owed_;  // results that rank 0 has still to send here
  std::vector<MPI_Request> incoming_;
  std::vector<MPI_Request> outgoing_;
};

}  // namespace sibyl
