// The algorithms of gatherv: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/gather/gather.hpp"
#include "planners/gatherv/gatherv.hpp"
#include "planners/papers.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::gatherv {

// m_i is the size of the block of rank i.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::gatherv,
              .name = "linear",
              .published = "LIN",
              .idea = "The root receives one block after the other, in rank order or in the order "
                      "given.",
              .cost = "(p-1) alpha + beta (sum of all m_i but the root's)",
              .source = linear_blocks_paper,
              .order = OrderUse::root_only,
              .background = true,
              .linear = true,
              .sizes = true,
              .describe = describe_linear,
              .plan = gather::plan_linear},
    Algorithm{
        .collective = Collective::gatherv,
        .name = "ordered-tree",
        .published = "TUW_Gatherv",
        .idea = "Ranks build a tree by telling each other how much they hold; blocks move along it "
                "as consecutive ranges in rank order, large ones direct to the root.",
        .cost = "d = ceil(log2 p): (2d-1) alpha to build the tree, d alpha + beta (sum of all m_i "
                "but the root's) to use it",
        .source = irregular_paper,
        .nodes = true,
        .any_placement = true,
        .sizes = true,
        .describe = describe_ordered_tree,
        .plan = plan_ordered_tree},
};

}  // namespace sibyl::gatherv
