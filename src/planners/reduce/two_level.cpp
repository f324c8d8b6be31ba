// Reduce on two levels: Clairvoyant between nodes, sums of their ranks within.
//
// Idea: a node counts as one rank, which comes when the last of its ranks does. Its leader, at the
// root's node the root, adds up the members' segments before the schedule first sends them, in the
// order in which the members come.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: required; operands come together in the order of arrival. In place: at the root.
// Cost after the last arrival on n nodes: about N + log2 n rounds of alpha + beta m/N between
// nodes, while the memory of each takes k m. Source: ../two_level.hpp for the levels,
// clairvoyant.cpp for what goes between nodes.
#include "planners/reduce/two_level.hpp"
#include "planners/reduce/clairvoyant.hpp"
#include "planners/two_level.hpp"

namespace sibyl::reduce {

std::string check_two_level(const PlanRequest& request) {
  return check_two_levels(check_clairvoyant, request);
}

PlanHeader describe_two_level(const PlanRequest& request) {
  return describe_two_levels(Collective::reduce, plan_one_clairvoyant, request);
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  plan_one_two_level(request, rank, program);
}

PlanHeader plan_one_two_level(const PlanRequest& request, Rank rank, Program& program) {
  return plan_two_levels(Collective::reduce, plan_one_clairvoyant, request, rank, program);
}

}  // namespace sibyl::reduce
