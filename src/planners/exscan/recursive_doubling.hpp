// Exclusive scan by recursive doubling, for ranks that share nodes.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::exscan {

// No rank applies the operator more often than this.
std::uint32_t recursive_doubling_applications(Rank ranks);

PlanHeader describe_recursive_doubling(const PlanRequest& request);
void plan_recursive_doubling(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::exscan
