// How long the rounds of Clairvoyant's schedules are where ranks arrive far apart.
//
// A schedule spreads arrivals over so many rounds for each that its segments take; beyond, they are
// drawn together. Ranks that come long before others take in whole vectors of those before them: if
// the pattern is wrong, each of these costs a vector's time after the last arrival. 512 KiB on 48
// hosts under delays to 50 ms took 44 ms with shuffled arrivals, the best rival 11 and Clairvoyant
// without arrivals 5.4; drawn together, 7.7, and 5.5 with the right ones
// (simulated in November 2026).
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

// Where links carry messages in turn, ranks that keep the order of a schedule wait for each other,
// and one in the wrong place holds up all. There arrivals are spread over no more rounds than the
// last rank needs to find what the others have merged: simulated, being told wrong then costs up to
// 1.26 times what ranks take that are told nothing, and 1.71 where they are spread over half a
// reduce, without a gain for the last rank where they are told right (docs/results/told-wrong.md).
inline double rounds_of_arrivals(std::uint32_t segments, Rank ranks, bool in_order) {
  if (in_order) return 2.5 * ceil_log2(static_cast<std::uint64_t>(ranks));
  constexpr double most_lateness = 0.5;
  return most_lateness * (segments + rounds_beyond(ranks));
}

// `shortest`: of a round, by what a segment costs; `spread`: from the first arrival to the last.
// Both in seconds.
inline double round_time_for(double shortest, double rounds, double spread) {
  return std::max(shortest, spread / rounds);
}

}  // namespace sibyl
