// Allreduces. Every rank ends with the same expression of the operands, hence the same bits.
#pragma once

#include <span>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::allreduce {

PlanHeader describe_doubling(const PlanRequest& request);
void plan_doubling(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_recursive_doubling(const PlanRequest& request);
void plan_recursive_doubling(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_circulant(const PlanRequest& request);
void plan_circulant(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_ring(const PlanRequest& request);
void plan_ring(const PlanRequest& request, Rank rank, Program& program);
std::string check_ring(const PlanRequest& request);

PlanHeader describe_rabenseifner(const PlanRequest& request);
void plan_rabenseifner(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_radix_k(const PlanRequest& request);
void plan_radix_k(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_clairvoyant(const PlanRequest& request);
void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs);
PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
std::string check_clairvoyant(const PlanRequest& request);

PlanHeader describe_pre_reduced_ring(const PlanRequest& request);
void plan_pre_reduced_ring(const PlanRequest& request, Rank rank, Program& program);
std::string check_pre_reduced_ring(const PlanRequest& request);

}  // namespace sibyl::allreduce
