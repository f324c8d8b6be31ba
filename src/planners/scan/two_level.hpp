// Inclusive scan on two levels, within nodes and between them.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::scan {

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::scan
