// The planners of gatherv; each is explained in the file of its name. Linear is that of gather.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::gatherv {

PlanHeader describe_linear(const PlanRequest& request);

PlanHeader describe_ordered_tree(const PlanRequest& request);
void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::gatherv
