// The algorithms of scan: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/papers.hpp"
#include "planners/pipelined_scan.hpp"
#include "planners/scan/doubling.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::scan {

// m is the size of the vector.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::scan,
              .name = "doubling",
              .published = "doubling",
              .idea = "Every round doubles the ranks that a sum covers.",
              .cost = "ceil(log2 p) (alpha + beta m)",
              .source = "W. D. Hillis, G. L. Steele, Data Parallel Algorithms, CACM 29(12), 1986",
              .describe = describe_doubling,
              .plan = plan_doubling},
    Algorithm{.collective = Collective::scan,
              .name = "pipelined-chain",
              .published = "pipelined linear array",
              .idea =
                  "Segments of the vector follow each other from rank to rank, each taking up an "
                  "operand at every rank.",
              .cost = "(p - 2 + N) (alpha + beta m/N) in N segments",
              .source = two_tree_paper,
              .segments = true,
              .describe = describe_pipelined<Collective::scan, Pipeline::chain>,
              .plan = plan_pipelined<Collective::scan, Pipeline::chain>,
              .check = check_pipelined},
    Algorithm{.collective = Collective::scan,
              .name = "two-tree",
              .published = "two-tree",
              .idea = "Every other segment goes up and down a second tree in which the first one's "
                      "leaves are the inner ranks, so that all ports are evenly busy.",
              .cost = "about (2 N + 4 log2 p) (alpha + beta m/N) in N segments",
              .source = two_tree_paper,
              .segments = true,
              .describe = describe_pipelined<Collective::scan, Pipeline::two_tree>,
              .plan = plan_pipelined<Collective::scan, Pipeline::two_tree>,
              .check = check_pipelined},
};

}  // namespace sibyl::scan
