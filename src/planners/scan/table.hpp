// The algorithms of scan: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/node_prefixes.hpp"
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
    scan_of_nodes<Collective::scan, describe_two_level, plan_two_level>,
    pipelined_chain<Collective::scan>,
    two_tree<Collective::scan>,
};

}  // namespace sibyl::scan
