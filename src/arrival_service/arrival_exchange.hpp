// How the ranks of one persistent request tell each other when they will arrive.
//
// Every rank sends the root one estimate in an iteration: with its progress report (its edge), or,
// where all ranks must hold the same arrival pattern, at its arrival if it has reported nothing.
// The root puts the arrival pattern together. Where only the root's program depends on the order of
// arrival, the root keeps the pattern, may act on what it knows so far, and drops an estimate that
// comes after its iteration. Otherwise it sends every rank the arrival pattern, or word that there
// is none since some rank reported nothing, and nobody begins that iteration's transfer before: so
// all ranks follow the same arrival pattern in the same iteration, whenever the messages arrive.
//
// Estimates name their iteration, since a fast rank may be ahead of the root. When a request is
// freed each rank says so in a last message, and the root listens until it has them all, so that
// none reaches who has tags or communicator next (communicator/deferred_release.hpp).
//
// Times are those of the root's clock, as each rank holds it to be; the error of that goes with
// them, and differences below it are ties. Between hosts a rank asks for the root's time with its
// estimate when it has not done so for a while, and learns from the answer whenever it comes.
//
// Thread safety: one caller at a time. Nothing here blocks.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <vector>

#include "arrival/view.hpp"
#include "arrival_service/clock.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

class ArrivalExchange {
 public:
  static constexpr int tags = 2;
  struct Parties {
    MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
    Rank rank = 0;
    Rank ranks = 1;
    Rank root = 0;
    int tag = 0;               // the first of ArrivalExchange::tags
    bool everyone = false;     // all ranks need the arrival pattern
    bool root_counts = false;  // it has a place for the root's own arrival
    CommonClock clock{};       // led by the root
    // Between two questions for the root's time, in nanoseconds.
    std::int64_t ask_after = 1'000'000'000;
  };

  ArrivalExchange() = default;
  ~ArrivalExchange() { close(); }
  ArrivalExchange(const ArrivalExchange&) = delete;
  ArrivalExchange& operator=(const ArrivalExchange&) = delete;

  void open(const Parties& parties);
  // No iteration follows.
  void leave();
  // After that: true when no message is under way any more, and close() cancels nothing.
  bool left();
  // Cancels what is posted.
  void close();

  // The ranks begin an iteration in which estimates are exchanged; numbers grow.
  void begin(std::int64_t iteration);
  // This rank's estimate, in seconds of the monotonic clock; without one, that there will be none.
  void report(double arrival);
  void report_none();
  bool reported() const { return reported_; }

  // Looks for messages. True when something has come.
  bool advance();
  // This rank knows all that it will: the arrival pattern, or that there is none.
  bool ended() const { return ended_; }
  // No message of this iteration has still to be sent.
  bool settled() const { return pattern_sends_.empty(); }
  // In seconds, of all ranks; not a number where a rank has said nothing, or nothing yet, and at a
  // root that does not count.
  const std::vector<double>& arrivals() const { return arrivals_; }
  // How far two of them may be nearer to or farther from each other, since clocks differ.
  double clock_error() const { return clock_error_; }
  // They as a view. May throw std::bad_alloc.
  SharedView view() const;
  // How far the clock of arrivals() is ahead of this rank's monotonic one, in seconds.
  double ahead() const {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds own = now.time_since_epoch();
    return static_cast<double>(parties_.clock.common(now) - own.count()) * 1e-9;
  }
  const CommonClock& clock() const { return parties_.clock; }
  bool all_known() const { return missing_ == 0 && none_ == 0; }
  // MPI_SUCCESS or the first error of a message.
  int error() const { return error_; }

 private:
  struct Estimate {
    std::int64_t iteration = 0;
    std::int64_t arrival = 0;  // nanoseconds, common clock
    std::int64_t asked = 0;    // local time of a question for the root's; 0: there is none
    double error = 0;          // of the clock, in seconds
    std::int64_t known = 0;
  };
  struct Answer {
    std::int64_t asked = 0;
    std::int64_t time = 0;
  };
  struct Incoming {  // at the root, one per rank
    Estimate estimate;
    bool early = false;  // holds an estimate of an iteration that is still to begin
    bool left = false;   // this rank sends no more
  };
  template <class Message>
  struct Outgoing {
    Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  template <class Message>
  using Sends = std::list<Outgoing<Message>>;

  bool is_root() const { return parties_.rank == parties_.root; }
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  void listen(Rank rank);
  void send(const Estimate& estimate);
  void answer(Rank rank);
  void ask(Estimate& estimate);
  void take(Rank rank);
  void record(Rank rank, const Estimate& estimate);
  bool advance_root();
  bool advance_leaf();
  void take_answer();
  void send_pattern();
  template <class Message>
  void send_to(Rank rank, const Message& message, Sends<Message>& sends);
  template <class Message>
  void reclaim(Sends<Message>& sends);

  static constexpr std::int64_t farewell = std::numeric_limits<std::int64_t>::max();

  Parties parties_;
  bool opened_ = false;
  std::int64_t iteration_ = 0;
  bool reported_ = false;
  bool ended_ = true;
  Rank missing_ = 0;  // ranks that have said nothing yet
  Rank none_ = 0;     // ranks without an edge
  std::vector<double> arrivals_;
  std::vector<bool> said_;
  std::vector<Incoming> incoming_;
  std::vector<MPI_Request> listening_;  // likewise; the root's own is null
  std::vector<int> heard_;
  Sends<Estimate> estimates_;
  Sends<Answer> answers_;
  Answer answer_;  // to this rank
  MPI_Request answer_receive_ = MPI_REQUEST_NULL;
  double clock_error_ = 0;
  // As sent: whether there is one, the clocks' error, then all ranks' arrivals.
  std::vector<double> pattern_;
  std::vector<MPI_Request> pattern_sends_;
  MPI_Request pattern_receive_ = MPI_REQUEST_NULL;
  int error_ = MPI_SUCCESS;
};

}  // namespace sibyl
