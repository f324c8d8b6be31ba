// Broadcasts. `send` is the root's vector, `receive` that of every other rank.
#pragma once

#include <span>
#include <string>

#include "planners/two_level.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::bcast {

PlanHeader describe_linear(const PlanRequest& request);
void plan_linear(const PlanRequest& request, Rank rank, Program& program);

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

// Between the nodes of a broadcast on two levels: along a chain or the circulant graph.
PlanHeader plan_between_nodes(const PlanRequest& request, Rank rank, Program& program);
using TwoLevel = TwoLevels<Collective::bcast, plan_between_nodes, check_segments>;

}  // namespace sibyl::bcast
