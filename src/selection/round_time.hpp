// How long the rounds of Clairvoyant's schedules are where ranks arrive far apart.
//
// A schedule spreads arrivals over so many rounds for each that its segments take; beyond, they are
// drawn together. Ranks that come long before others take in whole vectors of those before them: if
// the pattern is wrong, each of these costs a vector's time after the last arrival. 512 KiB on 48
// hosts under delays to 50 ms took 44 ms with shuffled arrivals, the best rival 11 and Clairvoyant
// without arrivals 5.4; drawn together, 7.7, and 5.5 with the right ones (docs/performance.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "planners/ceil_log2.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// Rounds of a schedule beyond those that its segments take.
inline double rounds_beyond(Rank ranks) {
  return 3.0 * ceil_log2(static_cast<std::uint64_t>(ranks));
}

// `shortest`: of a round, by what a segment costs; `spread`: from the first arrival to the last.
// Both in seconds.
inline double round_time_for(double shortest, std::uint32_t segments, Rank ranks, double spread) {
  constexpr double most_lateness = 0.5;
  return std::max(shortest, spread / (most_lateness * (segments + rounds_beyond(ranks))));
}

}  // namespace sibyl
