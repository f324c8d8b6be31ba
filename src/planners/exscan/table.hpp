// The algorithms of exscan: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/exscan/doubling_family.hpp"
#include "planners/exscan/recursive_doubling.hpp"
#include "planners/exscan/two_level.hpp"
#include "planners/node_prefixes.hpp"
#include "planners/papers.hpp"
#include "planners/pipelined_scan.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::exscan {

// m is the size of the vector.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::exscan,
              .name = "1-doubling",
              .published = "1-doubling",
              .idea =
                  "After one shift by a rank, every round doubles the ranks that a prefix covers; "
                  "one application of the operator a round.",
              .cost = "(1 + ceil(log2(p-1))) (alpha + beta m)",
              .source = scan_family_paper,
              .operator_rounds = true,
              .describe = describe<Member::one_doubling>,
              .plan = plan<Member::one_doubling>},
    Algorithm{.collective = Collective::exscan,
              .name = "123-doubling",
              .published = "123-doubling",
              .idea =
                  "Shifts by 1, 2 and 3 before doubling save a round for one more application of "
                  "the operator at most.",
              .cost = "ceil(log2(p-1) + log2(4/3)) (alpha + beta m)",
              .source = scan_family_paper,
              .operator_rounds = true,
              .describe = describe<Member::one_two_three_doubling>,
              .plan = plan<Member::one_two_three_doubling>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "two-op-doubling",
        .published = "two-(+) doubling",
        .idea = "Every rank sends its prefix with its own value in every round: the fewest rounds, "
                "two applications of the operator a round.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = scan_family_paper,
        .operator_rounds = true,
        .describe = describe<Member::two_op_doubling>,
        .plan = plan<Member::two_op_doubling>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "hybrid",
        .published = "round-optimal hybrid",
        .idea = "Ranks send their prefix with their own value in just as many rounds as the fewest "
                "rounds in all ask for, and their prefix alone afterwards.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = "arXiv 2604.25667, 2026, the follow-up of the paper on 123-doubling",
        .operator_rounds = true,
        .describe = describe<Member::hybrid>,
        .plan = plan<Member::hybrid>},
    Algorithm{
        .collective = Collective::exscan,
        .name = "recursive-doubling",
        .published = "recursive doubling",
        .idea = "Halves of aligned blocks exchange their totals, and blocks double: two "
                "applications of the operator a round, but the first rounds stay within nodes.",
        .cost = "ceil(log2 p) (alpha + beta m)",
        .source = "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
                  "Operations in MPICH, 2005, section 4",
        .describe = describe_recursive_doubling,
        .plan = plan_recursive_doubling},
    scan_of_nodes<Collective::exscan, describe_two_level, plan_two_level>,
    pipelined_chain<Collective::exscan>,
    two_tree<Collective::exscan>,
};

}  // namespace sibyl::exscan
