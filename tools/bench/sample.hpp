// What one measured operation tells: the metrics of the papers from the ranks' times.
#pragma once

#include <span>

#include "bench/bounds.hpp"

namespace sibyl::bench {

struct Sample {
  double run = 0;       // last exit minus first arrival
  double elapsed = 0;   // mean over ranks of exit minus own arrival
  double absorbed = 0;  // last exit minus last arrival
  double spread = 0;    // last arrival minus first
  double bound = 0;     // of the run time
  double planning = 0;  // what planning for these arrivals took at most; in run, elapsed, absorbed
  double late = 0;      // how far the latest rank was behind the time that it was to arrive at
  bool right = true;    // every result was correct
};

// A bare call: run and elapsed are the time of the slowest rank and the mean, each by its own
// clock; nobody is late.
Sample slowest(std::span<const double> arrivals, std::span<const double> exits);

// `arrivals` and `exits` on one common clock, `late` per rank; `early` as in run_time_bound().
Sample evaluate(Operation operation, std::span<const double> arrivals,
                std::span<const double> exits, std::span<const double> late,
                std::span<const double> bytes, int root, const Network& network,
                bool early = false);

}  // namespace sibyl::bench
