// Inclusive scan by doubling (see doubling.cpp).
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::scan {

PlanHeader describe_doubling(const PlanRequest& request);
void plan_doubling(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::scan
