// The algorithms of scatterv: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/papers.hpp"
#include "planners/scatter/scatter.hpp"
#include "planners/scatterv/scatterv.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::scatterv {

// m_i is the size of the block of rank i.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::scatterv,
              .name = "linear",
              .published = "LIN, SLIN (SLN), BSLIN (BSLN)",
              .idea = "The root sends one block after the other, in rank order or in the order "
                      "given.",
              .cost = "(p-1) alpha + beta (sum of all m_i but the root's)",
              .source = "J. Proficz, Process arrival pattern aware algorithms for acceleration of "
                        "scatter and gather operations, 2020, section 4, figures 5 and 6",
              .order = OrderUse::root_only,
              .background = true,
              .linear = true,
              .sizes = true,
              .describe = describe_linear,
              .plan = scatter::plan_linear},
    Algorithm{.collective = Collective::scatterv,
              .name = "ordered-tree",
              .published = "TUW_Scatterv",
              .idea =
                  "The root works out the tree and its messages say how large the blocks are, so "
                  "that nothing is built beforehand; large blocks come direct from the root.",
              .cost = "ceil(log2 p) alpha + beta (sum of all m_i but the root's)",
              .source = irregular_paper,
              .nodes = true,
              .any_placement = true,
              .sizes = true,
              .describe = describe_ordered_tree,
              .plan = plan_ordered_tree},
};

}  // namespace sibyl::scatterv
