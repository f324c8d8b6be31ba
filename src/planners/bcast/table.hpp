// The algorithms of bcast: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/bcast/bcast.hpp"
#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::bcast {

// m is the size of the vector, cut into N segments.
inline constexpr std::array algorithms{
    Algorithm{.collective = Collective::bcast,
              .name = "linear",
              .published = "LIN, flat tree",
              .idea = "The root sends the vector to every rank; in a node's shared memory it "
                      "writes it once, and all others read it.",
              .cost = "(p-1) (alpha + beta m)",
              .source = linear_blocks_paper,
              .order = OrderUse::root_only,
              .background = true,
              .in_place = false,
              .describe = describe_linear,
              .plan = plan_linear},
    Algorithm{.collective = Collective::bcast,
              .name = "binomial",
              .published = "BNOM",
              .idea = "Every rank that has the vector sends it on to one that has not, in rank "
                      "order or earliest arrival first.",
              .cost = "ceil(log2 p) (alpha + beta m)",
              .source = linear_blocks_paper,
              .order = OrderUse::all_ranks,
              .background = true,
              .in_place = false,
              .describe = describe_binomial,
              .plan = plan_binomial},
    Algorithm{.collective = Collective::bcast,
              .name = "chain",
              .published = "pipeline",
              .idea = "Segments go from rank to rank, each one sent on while the next comes in.",
              .cost = "(N+p-2) (alpha + beta m/N)",
              .source = pipelines_paper,
              .order = OrderUse::all_ranks,
              .background = true,
              .in_place = false,
              .segments = true,
              .describe = describe_chain,
              .plan = plan_chain,
              .check = check_segments},
    Algorithm{.collective = Collective::bcast,
              .name = "binary-tree",
              .published = "pipelined binary tree",
              .idea = "Segments go down a binary tree, each one sent on to two ranks.",
              .cost = "about (2N + 2 log2 p) (alpha + beta m/N)",
              .source = pipelines_paper,
              .order = OrderUse::all_ranks,
              .background = true,
              .in_place = false,
              .segments = true,
              .describe = describe_binary_tree,
              .plan = plan_binary_tree,
              .check = check_segments},
    Algorithm{.collective = Collective::bcast,
              .name = "circulant",
              .published = "round-optimal n-block broadcast",
              .idea = "Every rank sends to one neighbour of a circulant graph and receives from "
                      "another in each round; segments come in the fewest rounds there can be.",
              .cost = "(N - 1 + ceil(log2 p)) (alpha + beta m/N)",
              .source = circulant_broadcast_paper,
              .background = true,
              .in_place = false,
              .segments = true,
              .describe = describe_circulant,
              .plan = plan_circulant,
              .check = check_segments},
    Algorithm{.collective = Collective::bcast,
              .name = "scatter-allgather",
              .published = "van de Geijn",
              .idea = "The vector is scattered in p parts over a binomial tree, and the parts go "
                      "round a ring.",
              .cost = "(ceil(log2 p) + p - 1) alpha + 2 (p-1)/p beta m",
              .source = "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective "
                        "Communication Operations in MPICH, 2005, section 4",
              .background = true,
              .in_place = false,
              .describe = describe_scatter_allgather,
              .plan = plan_scatter_allgather,
              .check = check_part_per_rank},
    Algorithm{
        .collective = Collective::bcast,
        .name = "clairvoyant",
        .published = "Clairvoyant, deliveries alone",
        .idea = "All ranks work out the same schedule from the arrival pattern: every segment goes "
                "on to ranks that are there, the newest first.",
        .cost = "after the last arrival, where it is the root, about N + 2 log2 p rounds of alpha "
                "+ beta m/N",
        .source = "src/planners/clairvoyant/exchange.hpp; deliveries of rarest segments first",
        .in_place = false,
        .segments = true,
        .arrivals = true,
        .describe = describe_clairvoyant,
        .plan = plan_clairvoyant,
        .plan_all = plan_all_clairvoyant,
        .plan_one = plan_one_clairvoyant,
        .check = check_clairvoyant},
    Algorithm{.collective = Collective::bcast,
              .name = "two-level",
              .published = "two levels, pipeline between nodes",
              .idea = "Segments go from node to node along a chain or a circulant graph, and from "
                      "a leader on each to its ranks.",
              .cost = "n nodes: (N + n - 2) or (N - 1 + ceil(log2 n)) times (alpha + beta m/N)",
              .source = lanes_paper,
              .in_place = false,
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

}  // namespace sibyl::bcast
