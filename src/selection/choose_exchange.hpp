// The choice for bcast and for the collectives whose results go to all ranks.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// nullptr: the MPI library's own.
const Algorithm* choose_exchange(const Settings& settings, const Situation& now);

// Whether the choice looks at costs.
bool exchange_wants_costs(const Settings& settings, const Situation& now);

// Into how many segments an algorithm cuts the vector, or each block.
SegmentPlan exchange_segments(const Settings& settings, const Algorithm& row, const Situation& now);

}  // namespace sibyl
