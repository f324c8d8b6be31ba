// Plans on two levels from plans between nodes: of the vector's collectives, for ranks that lie on
// nodes in any way.
//
// A flat algorithm plans for the nodes as if each were one rank. On every node a leader runs that
// program on what its node has: before a segment is first needed, the members' parts of it are
// added up (reduce, allreduce); as soon as it is complete, it is handed to the members (allreduce,
// bcast). So a vector leaves a node once, and one segment is on the wire while the next comes
// together.
//
// Lanes: with L of them the vector is cut into L parts, and the l-th member of each node leads the
// l-th; all lanes follow one and the same schedule. Nodes of fewer members give some several lanes.
//
// Source: lanes after J. L. Traeff, S. Hunold, Decomposing MPI Collectives for Exploiting
// Multi-lane Communication, 2020 (arXiv 1910.13373), section 3; segments of both levels under way
// at a time ours.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl {

// The algorithm between nodes, where a rank stands for a node. Its programs write the result to
// `receive` in place, use one range a slice, and scratch slots within copies of the vector.
using PlanBetweenNodes = PlanHeader (*)(const PlanRequest& request, Rank rank, Program& program);

// Header and program of one rank of a reduce, an allreduce or a bcast.
PlanHeader plan_two_levels(Collective collective, PlanBetweenNodes between,
                           const PlanRequest& request, Rank rank, Program& program);
// The header alone.
PlanHeader describe_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request);
// Empty when the units of all lanes can be numbered; what the algorithm between nodes asks for is
// checked by `check` for the request that it will get.
std::string check_two_levels(std::string (*check)(const PlanRequest& request),
                             const PlanRequest& request);

}  // namespace sibyl
