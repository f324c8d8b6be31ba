// The algorithms of reduce: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "planners/reduce/binomial.hpp"
#include "planners/reduce/clairvoyant.hpp"
#include "planners/reduce/ordered_tree.hpp"
#include "planners/reduce/rabenseifner.hpp"
#include "planners/reduce/radix_k.hpp"
#include "planners/reduce/ring.hpp"
#include "planners/reduce/two_level.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::reduce {

// m is the size of the vector.
inline constexpr std::string_view rivals_paper =
    "J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm resilient to "
    "imbalanced process arrival patterns, 2020, section 6, where it is compared with";

inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::reduce,
              .name = "binomial",
              .published = "BNOM",
              .idea =
                  "Neighbouring blocks of ranks join in pairs, and one sends the other its sum, "
                  "whichever rank is the root.",
              .cost = "ceil(log2 p) (alpha + beta m)",
              .source = rivals_paper,
              .describe = describe_binomial,
              .plan = plan_binomial},
    Algorithm{.collective = Collective::reduce,
              .name = "ordered-tree",
              .published = "TUW_Gatherv (its tree)",
              .idea = "The binomial tree, in which the ranks of a node join before nodes do: one "
                      "vector leaves each node.",
              .cost = "ceil(log2 p) (alpha + beta m); k ranks on each of n nodes: ceil(log2 k) "
                      "rounds within, ceil(log2 n) between nodes",
              .source = ordered_tree_paper,
              .nodes = true,
              .uneven_nodes = true,
              .describe = describe_ordered_tree,
              .plan = plan_ordered_tree},
    Algorithm{.collective = Collective::reduce,
              .name = "rabenseifner",
              .published = "RAB",
              .idea = "Pairs of ranks exchange halves of the vector and each adds up one, then "
                      "quarters with the next pair, and so on; the parts are gathered.",
              .cost = "2 log2 p alpha + 2 (p-1)/p beta m; alpha + beta m more where p is no power "
                      "of two",
              .source = rabenseifner_paper,
              .describe = describe_rabenseifner,
              .plan = plan_rabenseifner,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::reduce,
              .name = "radix-k",
              .published = "RXK",
              .idea = "Groups of k ranks send each other their shares of the vector directly, k "
                      "dividing p and changing from phase to phase; the parts are gathered.",
              .cost = "p = k1 k2 ...: 2 (sum of k_i - 1) alpha + 2 (p-1)/p beta m",
              .source = radix_k_paper,
              .describe = describe_radix_k,
              .plan = plan_radix_k,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::reduce,
              .name = "ring",
              .published = "RING, bucket",
              .idea =
                  "The sums of p parts go around a ring at the same time and take up an operand "
                  "at every rank; each rank sends the root the part that ends with it.",
              .cost = "2 (p-1) (alpha + beta m/p)",
              .source = rivals_paper,
              .commutative_only = true,
              .describe = describe_ring,
              .plan = plan_ring,
              .check = check_part_per_rank},
    Algorithm{
        .collective = Collective::reduce,
        .name = "clairvoyant",
        .published = "Clairvoyant, CLV",
        .idea = "All ranks work out the same schedule from the arrival pattern: in every round, "
                "each one that is there takes a segment that another one there can send, and what "
                "is left when the last one arrives is little.",
        .cost = "after the last arrival about (N + ceil(log2 p)) (alpha + beta m/N) in N segments",
        .source = "J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm "
                  "resilient to imbalanced process arrival patterns, 2020, listings 2 and 8",
        .commutative_only = true,
        .segments = true,
        .arrivals = true,
        .describe = describe_clairvoyant,
        .plan = plan_clairvoyant,
        .plan_all = plan_all_clairvoyant,
        .plan_one = plan_one_clairvoyant,
        .check = check_clairvoyant},
    Algorithm{
        .collective = Collective::reduce,
        .name = "two-level",
        .published = "two levels, Clairvoyant between nodes",
        .idea = "A leader on each node adds up what its ranks bring; between nodes the leaders "
                "follow Clairvoyant, segments of both levels at a time.",
        .cost = "after the last arrival, n nodes: about (N + ceil(log2 n)) (alpha + beta m/N)",
        .source = lanes_paper,
        .commutative_only = true,
        .nodes = true,
        .any_placement = true,
        .lanes = true,
        .segments = true,
        .arrivals = true,
        .describe = TwoLevel::describe,
        .plan = TwoLevel::plan,
        .plan_all = TwoLevel::plan_all,
        .plan_one = TwoLevel::plan_one,
        .check = TwoLevel::check},
};

}  // namespace sibyl::reduce
