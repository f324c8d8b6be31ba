// The algorithms of allreduce: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/allreduce/allreduce.hpp"
#include "planners/allreduce/two_level.hpp"
#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::allreduce {

// m is the size of the vector, cut into N segments.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::allreduce,
              .name = "doubling",
              .published = "recursive multiplying",
              .idea = "Groups of neighbours, as large as p has factors, tell each other their "
                      "vectors and add them up, then groups of such groups.",
              .cost = "p = f1 f2 ...: ceil(log2 p) alpha + (sum of f_i - 1) beta m",
              .source = recursive_multiplying_paper,
              .describe = describe_doubling,
              .plan = plan_doubling},
    Algorithm{.collective = Collective::allreduce,
              .name = "recursive-doubling",
              .published = "recursive doubling",
              .idea = "Ranks that differ in one bit exchange their sums and both add them up, bit "
                      "after bit; ranks too many give theirs to a neighbour.",
              .cost = "log2 p (alpha + beta m); two rounds more where p is no power of two",
              .source = "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective "
                        "Communication Operations in MPICH, 2005, section 7",
              .describe = describe_recursive_doubling,
              .plan = plan_recursive_doubling},
    Algorithm{.collective = Collective::allreduce,
              .name = "circulant",
              .published = "circulant reduce-scatter and allgather",
              .idea = "A rank gives half of the parts that it still adds up to a rank far above, "
                      "then half of the rest to a nearer one; the way back gives all parts to all.",
              .cost =
                  "2 ceil(log2 p) alpha + 2 (p-1)/p beta m; an alpha more in a round whose parts "
                  "go past the last rank, which are two messages",
              .source = circulant_sums_paper,
              .commutative_only = true,
              .describe = describe_circulant,
              .plan = plan_circulant,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::allreduce,
              .name = "ring",
              .published = "RING, bucket",
              .idea = "The sums of p parts go around a ring and take up an operand at every rank, "
                      "then around once more to all.",
              .cost = "2 (p-1) (ceil(N/p) alpha + beta m/p)",
              .source = rings_paper,
              .commutative_only = true,
              .segments = true,
              .describe = describe_ring,
              .plan = plan_ring,
              .check = check_ring},
    Algorithm{.collective = Collective::allreduce,
              .name = "rabenseifner",
              .published = "RAB",
              .idea = "Pairs of ranks exchange halves of the vector and each adds up one, then "
                      "quarters with the next pair, and so on; the way back gives all parts to "
                      "all.",
              .cost = "2 log2 p alpha + 2 (p-1)/p beta m; 2 (alpha + beta m) more where p is no "
                      "power of two",
              .source = rabenseifner_paper,
              .describe = describe_rabenseifner,
              .plan = plan_rabenseifner,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::allreduce,
              .name = "radix-k",
              .published = "RXK",
              .idea = "Groups of k ranks send each other their shares of the vector directly, k "
                      "dividing p and changing from phase to phase, and back.",
              .cost = "p = k1 k2 ...: 2 (sum of k_i - 1) alpha + 2 (p-1)/p beta m",
              .source = radix_k_paper,
              .describe = describe_radix_k,
              .plan = plan_radix_k,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::allreduce,
              .name = "pre-reduced-ring",
              .published = "PRR",
              .idea = "Ranks that come in time add up their vectors around a ring while they wait "
                      "for those that are late, who send theirs straight to the sums; then these "
                      "go around to all.",
              .cost = "after the last arrival, k ranks late: about (p-1)/(p-k) beta m; ring's "
                      "where none is",
              .source = "J. Proficz, Improving All-reduce Collective Operations for Imbalanced "
                        "Process Arrival Patterns, 2018; StragglAR (arXiv 2505.23523)",
              .commutative_only = true,
              .segments = true,
              .arrivals = true,
              .describe = describe_pre_reduced_ring,
              .plan = plan_pre_reduced_ring,
              .check = check_pre_reduced_ring},
    Algorithm{
        .collective = Collective::allreduce,
        .name = "clairvoyant",
        .published = "Clairvoyant, generalised",
        .idea = "All ranks work out the same schedule of merges and deliveries from the arrival "
                "pattern: parts come together between those that are there, and results spread "
                "while others still come together.",
        .cost = "after the last arrival about N (p+k-2)/p + 2 log2 p rounds of alpha + beta m/N, "
                "where k partials of a segment are left then",
        .source = "src/planners/clairvoyant/exchange.hpp; after J. Proficz, K. M. Ocetkiewicz, "
                  "Improving Clairvoyant, 2020, and StragglAR (arXiv 2505.23523)",
        .commutative_only = true,
        .segments = true,
        .arrivals = true,
        .describe = describe_clairvoyant,
        .plan = plan_clairvoyant,
        .plan_all = plan_all_clairvoyant,
        .plan_one = plan_one_clairvoyant,
        .check = check_clairvoyant},
    Algorithm{.collective = Collective::allreduce,
              .name = "two-level",
              .published = "two levels, pre-reduced ring between nodes",
              .idea = "A leader on each node adds up what its ranks bring and hands them the sums, "
                      "which go around a ring of nodes.",
              .cost = "n nodes: 2 (n-1) (ceil(N/n) alpha + beta m/n)",
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

}  // namespace sibyl::allreduce
