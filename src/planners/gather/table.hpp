// The algorithms of gather: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/gather/gather.hpp"
#include "planners/papers.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::gather {

// m is the size of one block.
inline constexpr std::array algorithms{
    Algorithm{
        .collective = Collective::gather,
        .name = "linear",
        .published = "LIN",
        .idea = "The root receives one block after the other, in rank order or in the order given.",
        .cost = "(p-1) (alpha + beta m)",
        .source = linear_blocks_paper,
        .order = OrderUse::root_only,
        .background = true,
        .linear = true,
        .describe = describe_linear,
        .plan = plan_linear},
    Algorithm{
        .collective = Collective::gather,
        .name = "linear-synchronised",
        .published = "LS, SLS, BSLS",
        .idea =
            "The root asks one rank after the other for its block, which comes in two segments, "
            "and asks the next when the first segment is there.",
        .cost = "(p-1) (2 alpha + beta m) + alpha",
        .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                  "scatter and gather operations, 2020, section 4, figures 9 and 10",
        .order = OrderUse::root_only,
        .background = true,
        .describe = describe_linear_synchronised,
        .plan = plan_linear_synchronised},
    Algorithm{.collective = Collective::gather,
              .name = "binomial",
              .published = "BNOM, SBN, BSBN",
              .idea =
                  "Every rank collects its subtree and sends it on in one message; given an order, "
                  "the ranks at its front sit next to the root and send last.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                        "scatter and gather "
                        "operations, 2020, section 4, figures 11 and 12",
              .order = OrderUse::all_ranks,
              .background = true,
              .describe = describe_binomial,
              .plan = plan_binomial},
    Algorithm{.collective = Collective::gather,
              .name = "ordered-tree",
              .published = "TUW_Gatherv (its tree)",
              .idea =
                  "Neighbouring cubes of ranks join, and blocks move as consecutive ranges in rank "
                  "order, whichever rank is the root.",
              .cost = "ceil(log2 p) alpha + (p-1) beta m",
              .source = ordered_tree_paper,
              .nodes = true,
              .any_placement = true,
              .describe = describe_ordered_tree,
              .plan = plan_ordered_tree},
    Algorithm{.collective = Collective::gather,
              .name = "two-level",
              .published = "LIN, between nodes",
              .idea = "One rank collects for each node but the root's, and the root takes a "
                      "message a node, in rank order or as the last rank of each is expected.",
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

}  // namespace sibyl::gather
