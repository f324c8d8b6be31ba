// One clock for all ranks of a communicator: that of rank 0.
//
// Ranks of one host read the same monotonic clock. Between hosts one rank of each learns by
// ping-pong how far its clock is from rank 0's, and tells the others of its host. Every reply
// bounds the difference from both sides, since it was read between sending and receiving; what all
// replies leave open is the error, and it is kept beside the estimate. Drift shows only when the
// clocks are compared again after a while; until then it is taken to be 0 within `max_drift`, and
// the error grows with the age of the estimate.
//
// With H hosts the comparison takes ceil(log2 H) rounds: a host that knows rank 0's time is asked
// in the next round, and its own error is added (as in HCA3: S. Hunold, A. Carpen-Amarie,
// Hierarchical clock synchronization in MPI, CLUSTER 2018).
//
// Where one rank leads - the root of a persistent collective - every later message to it and back
// bounds the difference again (narrow()), so that nobody waits for a comparison.
//
// Thread safety: as for plain values; synchronise() and follow() are collective.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>

namespace sibyl {

// The clock of this host. A test gives its ranks clocks that are off.
struct LocalClock {
  std::int64_t offset = 0;  // nanoseconds
  double drift = 0;         // seconds a second

  std::int64_t at(std::chrono::steady_clock::time_point time) const {
    const auto ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    const std::int64_t moved =
        drift == 0 ? 0 : static_cast<std::int64_t>(drift * static_cast<double>(ns));
    return ns + offset + moved;
  }
  std::int64_t now() const { return at(std::chrono::steady_clock::now()); }
};

// Two crystals of 50 ppm each. A clock that NTP slews may run off faster for a while.
constexpr double usual_max_drift = 100e-6;

class CommonClock {
 public:
  // Of ranks that all read one clock.
  CommonClock() = default;
  explicit CommonClock(LocalClock local, double max_drift = usual_max_drift)
      : local_(local), max_drift_(max_drift) {}

  // Compares the clocks of the hosts; collective. `own_host` is equal on one host and different on
  // two. A rank for which MPI fails has an infinite error from then on.
  void synchronise(MPI_Comm comm, std::int64_t own_host);
  // Whether synchronise() has found more than one host.
  bool several_hosts() const { return several_hosts_; }

  const LocalClock& local() const { return local_; }
  // Rank 0's time at this rank's time `local`, both in nanoseconds.
  std::int64_t common(std::int64_t local) const {
    const double moved = drift_ * static_cast<double>(local - latest_.at);
    return local + latest_.offset + static_cast<std::int64_t>(moved);
  }
  std::int64_t common(std::chrono::steady_clock::time_point time) const {
    return common(local_.at(time));
  }
  // How far common(local) may be off, in seconds.
  double error(std::int64_t local) const;

  // From now on the common clock is what `leader` holds it to be: its own error counts for nothing,
  // and what its replies say is exact. Collective.
  void follow(MPI_Comm comm, int leader);
  // A reply of the leader, as for compare(), at any time: narrows down what is known.
  void narrow(std::int64_t sent, std::int64_t received, std::int64_t reply);
  // Local time of what was learnt last.
  std::int64_t compared_at() const { return latest_.at; }

  // The parts of synchronise(), apart from messages: begin, then a reply each, then the end.
  void begin_comparison();
  // A reply that rank 0's time was `reply` at some moment between `sent` and `received` here.
  void compare(std::int64_t sent, std::int64_t received, std::int64_t reply);
  // `reference_error`: how far the replies may have been off, in seconds.
  void end_comparison(double reference_error);

 private:
  struct Estimate {
    std::int64_t at = 0;      // local time
    std::int64_t offset = 0;  // common minus local time
    double error = 0;         // seconds
  };
  // What this rank tells the others of its host.
  struct Model {
    Estimate latest;
    double drift;
    double drift_error;
  };

  void ask(MPI_Comm comm, int reference);
  void answer(MPI_Comm comm, int client) const;
  void learn(const Estimate& now);
  void fail();
  int synchronise_hosts(MPI_Comm comm, std::int64_t own_host);

  LocalClock local_;
  double max_drift_ = usual_max_drift;
  bool several_hosts_ = false;
  bool leads_ = false;
  std::uint32_t comparisons_ = 0;
  Estimate base_;  // an earlier estimate, from which the drift is reckoned
  Estimate latest_;
  double drift_ = 0;
  double drift_error_ = 0;
  // Of the comparison under way.
  std::int64_t first_sent_ = 0;
  std::int64_t last_received_ = 0;
  std::int64_t lower_ = 0;
  std::int64_t upper_ = 0;
  bool any_ = false;
};

}  // namespace sibyl
