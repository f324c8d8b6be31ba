// The sum of whole vectors at all ranks, in the fewest rounds there can be, in rank order.
//
// Idea: the number of ranks is a product of factors. Groups of as many neighbours as the first
// factor says tell each other their vectors, in ceil(log2 factor) rounds, and each adds them up in
// rank order; then groups of such groups do so with their sums, and so on. All members of a group
// have the same sum, bit for bit.
//
// The factors are chosen so that there are as few rounds as possible, and of those with as few
// rounds that in which least is sent: a group of f sends f - 1 vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

std::vector<Rank> doubling_factors(Rank ranks);
std::uint32_t doubling_rounds(Rank ranks);

// The vector is `units` units of `own` from 0 on; the sum goes to copy 0 or 1 of the groups' places
// in scratch, which is returned, or to `receive` where that holds the whole vector.
Slice append_doubling_sums(Rank ranks, Rank rank, Unit units, Buffer own, bool to_receive,
                           Program& program);

}  // namespace sibyl
