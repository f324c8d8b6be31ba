// What the ranks measure about network and clocks before anything else.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/bounds.hpp"

namespace sibyl::bench {

// Half a round trip between rank 0 and `partner`: the least of `repetitions`, on all ranks.
double half_round_trip(std::size_t bytes, int partner, int repetitions);

// alpha: half a round trip of one byte between rank 0 and the first on another node. beta: what a
// message of 256 KiB takes longer than one of 128 KiB, both beyond the burst that a rate limit lets
// pass, for each of the pairs of ranks of the first two nodes that send at once. The least of some
// repetitions each. The same on all ranks; zero where there is no other node.
Network measure_network(int ranks_per_node);

// Each rank's clock against that of rank 0, from the fastest of `trips` round trips: the rank
// answers with its time, which is taken to be that of the middle of the trip, so that half the
// trip is the most that the offset can be wrong by.
struct ClockCheck {
  std::vector<double> offset;  // seconds; at rank 0, one per rank
  std::vector<double> error;
  double own = 0;           // this rank's offset to take off its times; 0 where clocks are common
  bool common = false;      // all ranks read the clock of one machine
  int ranks_per_clock = 1;  // most ranks on one machine
  // At rank 0: the largest offset and its error bound; with a common clock both should be small.
  double worst_offset() const;
  double worst_error() const;
  // The most that a clock has run off from rank 0's.
  double drift_since(const ClockCheck& earlier) const;
};
ClockCheck check_clocks(int trips);

}  // namespace sibyl::bench
