// Reduce on two levels.
#pragma once

#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

std::string check_two_level(const PlanRequest& request);
PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);
PlanHeader plan_one_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
