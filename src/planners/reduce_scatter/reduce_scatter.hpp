// Reduce-scatters, of blocks of one size or of any. A rank adds up in copies of the vector in
// scratch and puts its block where it belongs at the end, since in place `receive` lies over the
// vector.
#pragma once

#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::reduce_scatter {

template <Collective collective>
PlanHeader describe_doubling(const PlanRequest& request);
void plan_doubling(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request);
void plan_circulant(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request);
void plan_ring(const PlanRequest& request, Rank rank, Program& program);
std::string check_ring(const PlanRequest& request);

template <Collective collective>
PlanHeader describe_pairwise(const PlanRequest& request);
void plan_pairwise(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce_scatter
