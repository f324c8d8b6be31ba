// Allgathers of blocks of one size or of any. All data lie in `receive`, every block in its place.
#pragma once

#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::allgather {

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request);
void plan_circulant(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request);
void plan_ring(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_all_broadcast(const PlanRequest& request);
void plan_all_broadcast(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_gather_broadcast(const PlanRequest& request);
void plan_gather_broadcast(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_spread(const PlanRequest& request);
void plan_spread(const PlanRequest& request, Rank rank, Program& program);

// What every rank begins with: its own block in `receive`, unless it lies there.
void place_own_block(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::allgather
