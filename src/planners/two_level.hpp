// Plans on two levels from plans between nodes: of the vector's collectives and of allgathers, for
// ranks that lie on nodes in any way.
//
// A flat algorithm plans for the nodes as if each were one rank. On every node a leader runs that
// program on what its node has: before a segment is first needed, the members' parts of it are
// added up (reduce, allreduce) or put beside each other (allgather); as soon as it is complete, it
// is handed to the members (all but reduce). So a vector leaves a node once, and one segment is on
// the wire while the next comes together.
//
// Lanes: with L of them the vector, or every block, is cut into L parts, and the l-th member of
// each node leads the l-th; all lanes follow one and the same schedule. Nodes of fewer members give
// some several lanes.
//
// Source: lanes after J. L. Traeff, S. Hunold, Decomposing MPI Collectives for Exploiting
// Multi-lane Communication, 2020 (arXiv 1910.13373), section 3; segments of both levels under way
// at a time ours.
#pragma once

#include <span>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl {

// The algorithm between nodes, where a rank stands for a node. Of a vector its programs write the
// result to `receive` in place, use one range a slice, and scratch slots within copies of the
// vector. Of blocks all their data lies in `receive`; they use no scratch.
using PlanBetweenNodes = PlanHeader (*)(const PlanRequest& request, Rank rank, Program& program);

// One whose header stands apart from its programs.
template <PlanHeader (*describe)(const PlanRequest&),
          void (*plan)(const PlanRequest&, Rank, Program&)>
PlanHeader described_and_planned(const PlanRequest& request, Rank rank, Program& program) {
  plan(request, rank, program);
  return describe(request);
}

PlanHeader plan_two_levels(Collective collective, PlanBetweenNodes between,
                           const PlanRequest& request, Rank rank, Program& program);
PlanHeader plan_all_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request, std::span<Program> programs);
// The header alone.
PlanHeader describe_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request);
// Empty when the units of all lanes can be numbered.
std::string check_two_levels(const PlanRequest& request);

// The functions of a row of the table. `check_between`: what the algorithm between nodes says of
// the request.
template <Collective collective, PlanBetweenNodes between,
          std::string (*check_between)(const PlanRequest&)>
struct TwoLevels {
  static PlanHeader describe(const PlanRequest& request) {
    return describe_two_levels(collective, between, request);
  }
  static void plan(const PlanRequest& request, Rank rank, Program& program) {
    plan_two_levels(collective, between, request, rank, program);
  }
  static PlanHeader plan_all(const PlanRequest& request, std::span<Program> programs) {
    return plan_all_two_levels(collective, between, request, programs);
  }
  static PlanHeader plan_one(const PlanRequest& request, Rank rank, Program& program) {
    return plan_two_levels(collective, between, request, rank, program);
  }
  static std::string check(const PlanRequest& request) {
    const std::string wrong = check_two_levels(request);
    return wrong.empty() ? check_between(request) : wrong;
  }
};

}  // namespace sibyl
