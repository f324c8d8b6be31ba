// Broadcasts. `send` is the root's vector, `receive` that of every other rank.
#pragma once

#include <span>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl::bcast {

PlanHeader describe_binomial(const PlanRequest& request);
void plan_binomial(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_chain(const PlanRequest& request);
void plan_chain(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_binary_tree(const PlanRequest& request);
void plan_binary_tree(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_circulant(const PlanRequest& request);
void plan_circulant(const PlanRequest& request, Rank rank, Program& program);

PlanHeader describe_scatter_allgather(const PlanRequest& request);
void plan_scatter_allgather(const PlanRequest& request, Rank rank, Program& program);

// Empty when a plan can number the segments.
std::string check_segments(const PlanRequest& request);

PlanHeader describe_clairvoyant(const PlanRequest& request);
void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs);
PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
std::string check_clairvoyant(const PlanRequest& request);

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);
PlanHeader plan_one_two_level(const PlanRequest& request, Rank rank, Program& program);
std::string check_two_level(const PlanRequest& request);

}  // namespace sibyl::bcast
