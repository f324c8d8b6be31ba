// Reduce around a ring, in as many parts as there are ranks.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

PlanHeader describe_ring(const PlanRequest& request);
void plan_ring(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
