// Reduce over a binomial tree.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

PlanHeader describe_binomial(const PlanRequest& request);
void plan_binomial(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
