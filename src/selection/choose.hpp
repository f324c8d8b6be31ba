// Chooses the algorithm of one call from what is certain to be equal on all its ranks.
#pragma once

#include <cstdint>

#include "selection/settings.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

enum class OperatorUse : std::uint8_t {
  none,        // the collective applies no operator
  predefined,  // cheap: about the cost of reading the operands
  user,        // of unknown cost: taken to be expensive
};

struct Situation {
  Collective collective = Collective::exscan;
  Rank ranks = 1;
  std::uint64_t bytes = 0;  // packed bytes of the vector, or of one block
  OperatorUse operator_use = OperatorUse::none;
  bool commutes = true;     // the operator; only reduce has algorithms that ask for it
  Rank ranks_per_node = 1;  // as in PlanRequest
};

// nullptr: the MPI library's own collective. Cost: a few dozen integer operations.
const Algorithm* choose(const Settings& settings, const Situation& situation);

// Into how many segments an algorithm that plans for arrivals cuts the vector of a reduce; 1 for
// others. Cost: a few dozen floating-point operations.
std::uint32_t segments_for(const Settings& settings, const Algorithm& algorithm,
                           const Situation& situation);

}  // namespace sibyl
