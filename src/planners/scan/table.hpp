// The algorithms of scan: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/pipelined_scan.hpp"
#include "planners/scan/doubling.hpp"
#include "planners/scan/two_level.hpp"
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
    Algorithm{
        .collective = Collective::scan,
        .name = "two-level",
        .published = "hierarchical",
        .idea = "Nodes scan within themselves, their last ranks scan the totals and broadcast what "
                "they get: a vector leaves a node once a round, not once per rank.",
        .cost = "k ranks in n nodes: (2 ceil(log2 k) + ceil(log2 n)) (alpha + beta m), of which "
                "ceil(log2 n) between nodes",
        .source = "J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical "
                  "All-to-all Communication, 2014 (the decomposition)",
        .nodes = true,
        .uneven_nodes = true,
        .describe = describe_two_level,
        .plan = plan_two_level},
    pipelined_chain<Collective::scan>,
    two_tree<Collective::scan>,
};

}  // namespace sibyl::scan
