// Whom the root of a two-level gather or scatter deals with: each rank of its own node, and of
// every other node one rank that leads it, wherever the ranks of nodes lie.
#pragma once

#include <cstdint>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

// One message with the root: the blocks of these ranks, in this order.
struct Party {
  std::vector<Rank> ranks;  // ascending
  Rank leader() const { return ranks.front(); }
  // Their blocks in a buffer of all ranks.
  Slice blocks(Buffer buffer, ProgramBuilder& build) const;
};

// In the order in which the root serves them. Given an order of ranks, a party's place is that of
// its last rank if all of them have to be there (gather), else that of its leader (scatter).
std::vector<Party> parties_of(const PlanRequest& request, bool all_must_be_there);

// The most ranks beside the leader that one of them has.
std::uint32_t most_led(const std::vector<Party>& parties);

// A rank's place: the turn of its party, and its place behind the leader, 0 for the leader itself.
struct PartyPlace {
  const Party& party;
  std::uint32_t turn = 0;
  std::uint32_t index = 0;
};
PartyPlace place_in(const std::vector<Party>& parties, Rank rank);

}  // namespace sibyl
