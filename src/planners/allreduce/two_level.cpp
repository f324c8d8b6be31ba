// Allreduce on two levels: a ring between nodes that need not wait for late ones, sums of their
// ranks within.
//
// Idea: a node counts as one rank, which comes when the last of its ranks does. Its leader adds up
// the members' pieces before the ring first needs them, and hands them the sums one by one.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: required. In place: at any rank.
// Cost on n nodes: 2 (n-1) (ceil(N/n) alpha + beta m/n) between nodes, while the memory of each
// takes 2 k m; after late nodes what pre_reduced_ring.cpp says. Source: ../two_level.hpp for the
// levels, pre_reduced_ring.cpp for what goes between nodes.
#include "planners/two_level.hpp"
#include "planners/allreduce/allreduce.hpp"

namespace sibyl::allreduce {
namespace {

PlanHeader between(const PlanRequest& request, Rank rank, Program& program) {
  plan_pre_reduced_ring(request, rank, program);
  return describe_pre_reduced_ring(request);
}

}  // namespace

std::string check_two_level(const PlanRequest& request) {
  return check_two_levels(check_pre_reduced_ring, request);
}

PlanHeader describe_two_level(const PlanRequest& request) {
  return describe_two_levels(Collective::allreduce, between, request);
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  plan_one_two_level(request, rank, program);
}

PlanHeader plan_one_two_level(const PlanRequest& request, Rank rank, Program& program) {
  return plan_two_levels(Collective::allreduce, between, request, rank, program);
}

}  // namespace sibyl::allreduce
