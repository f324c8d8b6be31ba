// Reduce over an ordered tree.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

PlanHeader describe_ordered_tree(const PlanRequest& request);
void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
