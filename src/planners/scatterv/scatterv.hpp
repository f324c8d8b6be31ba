// The planners of scatterv; each is explained in the file of its name. Linear is that of scatter.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::scatterv {

PlanHeader describe_linear(const PlanRequest& request);

PlanHeader describe_ordered_tree(const PlanRequest& request);
void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::scatterv
