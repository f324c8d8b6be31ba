// Reduce by recursive halving and a binomial gather.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

PlanHeader describe_rabenseifner(const PlanRequest& request);
void plan_rabenseifner(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce
