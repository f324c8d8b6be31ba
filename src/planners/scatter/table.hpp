// The algorithms of scatter: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/papers.hpp"
#include "planners/scatter/scatter.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::scatter {

// m is the size of one block.
inline constexpr std::array algorithms{
    Algorithm{
        .collective = Collective::scatter,
        .name = "linear",
        .published = "LIN, SLIN (SLN), BSLIN (BSLN)",
        .idea = "The root sends one block after the other, in rank order or in the order given.",
        .cost = "(p-1) (alpha + beta m)",
        .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                  "scatter and gather operations, 2020, section 4, figures 5 and 6",
        .order = OrderUse::root_only,
        .background = true,
        .linear = true,
        .describe = describe_linear,
        .plan = plan_linear},
    Algorithm{.collective = Collective::scatter,
              .name = "binomial",
              .published = "BNOM, SBN, BSBN",
              .idea =
                  "Every rank receives its subtree in one message and sends its children theirs; "
                  "given an order, the ranks at its front receive first.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                        "scatter and gather operations, 2020, section 4, figures 7 and 8",
              .order = OrderUse::all_ranks,
              .background = true,
              .describe = describe_binomial,
              .plan = plan_binomial},
    Algorithm{
        .collective = Collective::scatter,
        .name = "ordered-tree",
        .published = "TUW_Scatterv (its tree)",
        .idea =
            "The tree of the ordered gather downwards: blocks move as consecutive ranges in rank "
            "order, whichever rank is the root.",
        .cost = "ceil(log2 p) alpha + (p-1) beta m",
        .source = ordered_tree_paper,
        .nodes = true,
        .any_placement = true,
        .describe = describe_ordered_tree,
        .plan = plan_ordered_tree},
    Algorithm{.collective = Collective::scatter,
              .name = "two-level",
              .published = "LIN, between nodes",
              .idea = "The root sends a message a node, in rank order or as its takers are "
                      "expected, and one rank gives the others of its node theirs.",
              .cost = "(n+k-2) alpha + (p-1) beta m at the root, (k-1) (alpha + beta m) in n nodes "
                      "of k ranks",
              .source = linear_blocks_paper,
              .order = OrderUse::root_only,
              .background = true,
              .nodes = true,
              .any_placement = true,
              .describe = describe_two_level,
              .plan = plan_two_level},
};

}  // namespace sibyl::scatter
