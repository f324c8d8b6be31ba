// Reduce by groups of several ranks and a gather.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

PlanHeader describe_radix_k(const PlanRequest& request);
void plan_radix_k(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
