// The governor of one communicator with its messages and its clock (governor/governor.hpp).
//
// A rank reports to rank 0 before one governed call; before the next one rank 0 takes in what all
// have told, judges, and sends verdicts; before the one after that all follow them. So nobody waits
// for a rank that is less than two calls behind. The messages are small and of two
// tags. They are messages, not MPI_Iallreduce, since only these can be cancelled when a rank is
// gone.
//
// Where a message fails, or ranks find that they are not in step, the governor switches itself off
// and calls are served as chosen.
//
// Thread safety: none; MPI lets one collective run at a time on a communicator.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "governor/governor.hpp"
#include "governor/judge.hpp"
#include "telemetry/report.hpp"

namespace sibyl {

class Governing {
 public:
  static constexpr int tags = 2;
  struct Parties {
    MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
    Rank rank = 0;
    Rank ranks = 1;
    int tag = 0;             // the first of Governing::tags
    std::uint64_t id = 0;    // of the communicator, the same on its ranks
    bool one_clock = false;  // all ranks read the same steady clock
  };

  explicit Governing(const Parties& parties);
  ~Governing();
  Governing(const Governing&) = delete;
  Governing& operator=(const Governing&) = delete;

  // A call begins that was chosen to be served by `key.own`, following arrivals of this version.
  // `place`: where in the program it was made, at rank 0; elsewhere 0. May send, and waits for
  // verdicts where they are due. May throw std::bad_alloc.
  Governor::Call enter(const Governor::Key& key, std::uint64_t arrivals, std::int64_t place = 0);
  // It is over; `comparable`: it was served by the arm that it had.
  void leave(const Governor::Call& call, bool comparable);

  // For a persistent request, whose start waits for nobody.
  // Begins an iteration, as enter() does a call.
  Governor::Call start(const Governor::Key& key);
  // Takes in, and passes on, what has come of an agreement. `waits`: there is nothing else to wait
  // for in this iteration.
  void progress(bool waits);
  // The iteration may end: the start that follows verdicts has them. That is the second one after
  // the report, so that a rank waits for those alone that are an iteration behind.
  bool settled() const { return !governor_.follows_next() || all_came(); }
  // Others' next iteration ends with verdicts that this rank has still to make.
  bool owes_verdicts() const { return leads() && !all_came(); }
  // It is complete, and has taken so many seconds.
  void complete(const Governor::Call& call, double seconds);
  // No iteration follows: true when no message is under way any more. Blocks nowhere.
  bool left();

  // The communicator goes: no message stays under way, which may take a second where a rank is
  // behind. False where one of this rank's has been given up, so that another rank's may still come
  // to it.
  [[nodiscard]] bool finish();

  // Adds its sites, and what it has taken. May throw std::bad_alloc.
  void add_to(CommunicatorReport& report, bool of_request) const;

  const Governor& governor() const { return governor_; }
  std::int64_t agreements() const { return agreements_; }

  // For tests: what a call is taken to have lasted, instead of what the clock says. An agreement is
  // then taken to have lasted next to nothing, since that decides when the next ones are due.
  using Lasted = std::function<double(const Governor::Site& site, Arm arm)>;
  void replace_times(Lasted lasted) { lasted_ = std::move(lasted); }

 private:
  bool leads() const { return parties_.rank == 0; }
  // Of the agreement under way.
  bool all_came() const {
    return !governor_.is_under_way() || (leads() ? collected_ : incoming_.empty());
  }
  void step(Governor::Step step);
  int wait_for(std::vector<MPI_Request>& requests);
  bool wait_until(double end, std::vector<MPI_Request>& requests) const;
  double now() const;
  int report();
  int collect();
  int follow();
  void pass_verdicts();

  // Word 0: how many verdicts follow; none: switch off.
  using Verdicts = std::array<double, 1 + Governor::sites_of_an_agreement * SiteVerdict::words>;

  Parties parties_;
  Governor governor_;
  Judge judge_;
  Lasted lasted_;
  double joined_ = 0;      // the call that is under way
  Governor::Spent spent_;  // on agreements since the last report
  double spent_before_ = 0;
  double waited_ = 0;  // in the step that is being made
  std::int64_t agreements_ = 0;
  bool collected_ = false;
  double waits_since_ = 0;                 // a persistent request; 0: it does not
  bool gave_up_ = false;                   // a message, at the end
  std::vector<Governor::Report> reports_;  // own; at rank 0 those of all
  Verdicts verdicts_{};
  std::vector<MPI_Request> incoming_;
  std::vector<MPI_Request> outgoing_;
};

}  // namespace sibyl
