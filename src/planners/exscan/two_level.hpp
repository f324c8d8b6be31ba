// Exclusive scan on two levels, within nodes and between them.
#pragma once

#include "sibyl/planners.hpp"

namespace sibyl::exscan {

// The rounds of the three phases; all rounds are their sum.
struct TwoLevelRounds {
  std::uint32_t within = 0;     // scans in all nodes at a time
  std::uint32_t between = 0;    // the scan of the nodes' totals
  std::uint32_t broadcast = 0;  // of what the nodes below sum up to
};
TwoLevelRounds two_level_rounds(Rank ranks, Rank ranks_per_node);

PlanHeader describe_two_level(const PlanRequest& request);
void plan_two_level(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::exscan
