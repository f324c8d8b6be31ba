// All-to-all exchanges of blocks of one size or of any.
//
// In place a block that comes lies over the one that goes to the same rank, so that one is copied
// to scratch first.
#pragma once

#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::alltoall {

template <Collective collective>
PlanHeader describe_pairwise(const PlanRequest& request);
template <Collective collective>
PlanHeader describe_shifted(const PlanRequest& request);
void plan_shifted(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_bruck(const PlanRequest& request);
void plan_bruck(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::alltoall
