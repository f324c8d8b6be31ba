// The algorithms of barrier: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/barrier/barrier.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::barrier {

inline constexpr std::string_view dissemination_paper =
    "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988";

inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::barrier,
              .name = "dissemination",
              .published = "dissemination",
              .idea = "In round k every rank tells the one 2^k above what it has heard of.",
              .cost = "ceil(log2 p) alpha",
              .source = dissemination_paper,
              .in_place = false,
              .describe = describe_dissemination,
              .plan = plan_dissemination},
    Algorithm{.collective = Collective::barrier,
              .name = "two-level",
              .published = "two levels, dissemination between nodes",
              .idea = "Ranks tell the leader of their node that they are there, leaders tell each "
                      "other by dissemination and release their ranks.",
              .cost = "n nodes: ceil(log2 n) alpha, and two latencies within nodes",
              .source = dissemination_paper,
              .in_place = false,
              .nodes = true,
              .any_placement = true,
              .describe = describe_two_level,
              .plan = plan_two_level}};

}  // namespace sibyl::barrier
