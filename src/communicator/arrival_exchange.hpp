// How the ranks of one persistent request tell each other when they will arrive.
//
// Every rank sends the root one estimate in an iteration: at its edge, or, where all ranks must
// hold the same pattern, at its arrival if it has reported no edge. The root alone makes the
// pattern. Where only the root's program depends on the order it keeps it, may act on what it has,
// and an estimate that comes after its iteration is dropped. Otherwise it sends every rank the
// pattern, or word that there is none since some rank reported no edge, and nobody begins that
// iteration's transfer before: so all ranks follow the same pattern in the same iteration, whenever
// the messages arrive.
//
// Estimates name their iteration, since a fast rank may be ahead of the root. When a request is
// freed each rank says so in a last message, and the root listens until it has them all: no message
// is left behind for whoever has the tags or the communicator next (left_behind.hpp).
//
// Times on one node are of the one monotonic clock; between nodes a rank says how long it has still
// to compute, and the root adds its own time when it looks.
//
// Thread safety: one caller at a time. Nothing here blocks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <list>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

class ArrivalExchange {
 public:
  struct Parties {
    MPI_Comm comm = MPI_COMM_NULL;  // private; returns its errors
    Rank rank = 0;
    Rank ranks = 1;
    Rank root = 0;
    int tag = 0;               // two tags are used
    bool everyone = false;     // all ranks need the pattern
    bool root_counts = false;  // it has a place for the root's own arrival
    bool one_clock = false;
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
  // This rank's estimate, in seconds of `now`'s clock; without one, that there will be none.
  void report(double arrival, double now);
  void report_none();
  bool reported() const { return reported_; }

  // Looks for messages. True when something has come.
  bool advance(double now);
  // This rank knows all that it will: the pattern, or that there is none.
  bool ended() const { return ended_; }
  // No message of this iteration has still to be sent.
  bool settled() const { return pattern_sends_.empty(); }
  // Of all ranks; not a number where a rank has said nothing, or nothing yet, and at a root that
  // does not count.
  const std::vector<double>& arrivals() const { return arrivals_; }
  bool all_known() const { return missing_ == 0 && none_ == 0; }
  // MPI_SUCCESS or the first error of a message.
  int error() const { return error_; }

 private:
  struct Estimate {
    std::int64_t iteration = 0;
    double arrival = 0;  // or the time that is left
    std::int64_t known = 0;
  };
  struct Incoming {  // at the root, one per other rank
    Estimate estimate;
    MPI_Request request = MPI_REQUEST_NULL;
    bool early = false;  // holds an estimate of an iteration that is still to begin
    bool left = false;   // this rank sends no more
  };
  struct Outgoing {
    Estimate estimate;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool is_root() const { return parties_.rank == parties_.root; }
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  void listen(Rank rank);
  void send(const Estimate& estimate);
  void take(Rank rank, double now);
  void record(Rank rank, const Estimate& estimate, double now);
  bool advance_root(double now);
  bool advance_leaf();
  void send_pattern();
  void reclaim_sends();

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
  std::list<Outgoing> outgoing_;
  std::vector<double> pattern_;  // as sent: whether there is one, then all ranks' arrivals
  std::vector<MPI_Request> pattern_sends_;
  MPI_Request pattern_receive_ = MPI_REQUEST_NULL;
  int error_ = MPI_SUCCESS;
};

}  // namespace sibyl
