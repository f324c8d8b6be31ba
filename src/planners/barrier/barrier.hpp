// Barriers: messages without data.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::barrier {

PlanHeader describe_dissemination(const PlanRequest& request);
void plan_dissemination(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::barrier
