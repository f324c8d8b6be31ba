// The planners of gather; each is explained in the file of its name.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::gather {

PlanHeader describe_linear(const PlanRequest& request);
void plan_linear(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_linear_synchronised(const PlanRequest& request);
void plan_linear_synchronised(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_binomial(const PlanRequest& request);
void plan_binomial(const PlanRequest& request, Rank rank, Program& program);
PlanHeader describe_ordered_tree(const PlanRequest& request);
void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program);
PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::gather
