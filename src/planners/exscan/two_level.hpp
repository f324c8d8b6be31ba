// Exclusive scan on two levels, within nodes and between them.
#pragma once

#include "planners/node_prefixes.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::exscan {

TwoLevelRounds two_level_rounds(const PlanRequest& request);
// Of so many nodes, of which the largest holds so many ranks: at most.
TwoLevelRounds two_level_rounds(Rank nodes, Rank largest);

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::exscan
