// The algorithms of barrier: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/barrier/barrier.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::barrier {

inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::barrier,
              .name = "dissemination",
              .published = "dissemination",
              .idea = "In round k every rank tells the one 2^k above what it has heard of.",
              .cost = "ceil(log2 p) alpha",
              .source = "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier "
                        "Synchronization, 1988",
              .in_place = false,
              .describe = describe_dissemination,
              .plan = plan_dissemination}};

}  // namespace sibyl::barrier
