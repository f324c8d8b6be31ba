// Reduce-scatters, of blocks of one size or of any. A rank adds up in copies of the vector in
// scratch and puts its block where it belongs at the end, since in place `receive` lies over the
// vector.
#pragma once

#include <cstdint>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::reduce_scatter {

// Of programs that add up in scratch, `units` units of it.
void begin_sums(const PlanRequest& request, Unit units, Program& program);
// The block of this rank, from scratch or, alone, from the caller's vector.
void put_own_block(const PlanRequest& request, Rank rank, Program& program, std::uint32_t round);

template <Collective collective>
PlanHeader describe_doubling(const PlanRequest& request);
void plan_doubling(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request);
void plan_circulant(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request);
void plan_ring(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_pairwise(const PlanRequest& request);
void plan_pairwise(const PlanRequest& request, Rank rank, Program& program);

template <Collective collective>
PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::reduce_scatter
