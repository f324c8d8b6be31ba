// The algorithms of allgather and allgatherv: their rows of the one table (../algorithms.cpp). They
// are the same; blocks of different sizes change nothing in what is sent where.
#pragma once

#include <array>

#include "planners/allgather/allgather.hpp"
#include "planners/allgather/two_level.hpp"
#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::allgather {

inline constexpr std::string_view resilient_allgathers_paper =
    "J. Proficz, All-gather Algorithms Resilient to Imbalanced Process Arrival Patterns, 2021";

// m is the size of one block, M of all of them.
template <Collective collective>
constexpr std::array<Algorithm, 6> rows() {
  constexpr bool irregular = collective == Collective::allgatherv;
  return {
      Algorithm{.collective = collective,
                .name = "circulant",
                .published = "Bruck, dissemination",
                .idea =
                    "A rank's run of blocks doubles in each round: it takes the run that begins "
                    "where its own ends.",
                .cost = irregular ? "ceil(log2 p) alpha + at most ceil(log2 p) beta M"
                                  : "ceil(log2 p) alpha + (p-1) beta m",
                .source = doubling_paper,
                .sizes = irregular,
                .describe = describe_circulant<collective>,
                .plan = plan_circulant},
      Algorithm{.collective = collective,
                .name = "ring",
                .published = "RING, bucket",
                .idea = "Every rank sends on to the next what came from the one before, blocks in "
                        "N segments where they are large.",
                .cost = irregular ? "N (p-1) alpha + about beta (M + p/N times the largest block)"
                                  : "(p-1) (N alpha + beta m)",
                .source = rings_paper,
                .background = true,
                .sizes = irregular,
                .segments = true,
                .describe = describe_ring<collective>,
                .plan = plan_ring,
                .check = check_segments_of_blocks},
      Algorithm{.collective = collective,
                .name = "all-broadcast",
                .published = "round-optimal all-broadcast",
                .idea = "All ranks broadcast their blocks along one circulant graph; the segments "
                        "that are due in a round, one of each block, are one message.",
                .cost = irregular ? "(N - 1 + ceil(log2 p)) (alpha + about beta M/N)"
                                  : "(N - 1 + ceil(log2 p)) (alpha + beta (p-1) m/N)",
                .source = circulant_broadcast_paper,
                .sizes = irregular,
                .segments = true,
                .describe = describe_all_broadcast<collective>,
                .plan = plan_all_broadcast,
                .check = check_segments_of_blocks},
      Algorithm{.collective = collective,
                .name = "spread",
                .published = "BDR",
                .idea = "Every rank sends its block to all others, the next one first; a late rank "
                        "delays only its own block.",
                .cost = irregular ? "(p-1) alpha + beta (p-1) times the largest block"
                                  : "(p-1) (alpha + beta m)",
                .source = resilient_allgathers_paper,
                .background = true,
                .sizes = irregular,
                .describe = describe_spread<collective>,
                .plan = plan_spread},
      Algorithm{.collective = collective,
                .name = "gather-broadcast",
                .published = "BSLB",
                .idea = "Rank 0 asks one rank after the other for its block, in rank order or "
                        "earliest arrival first, and broadcasts all blocks.",
                .cost = irregular ? "(2p-1) alpha + beta M + ceil(log2 p) (alpha + beta M)"
                                  : "(p-1) (2 alpha + beta m) + alpha + ceil(log2 p) (alpha + "
                                    "beta p m)",
                .source = resilient_allgathers_paper,
                .order = OrderUse::root_only,
                .background = true,
                .sizes = irregular,
                .describe = describe_gather_broadcast<collective>,
                .plan = plan_gather_broadcast},
      Algorithm{.collective = collective,
                .name = "two-level",
                .published = "two levels, ring between nodes",
                .idea = "A leader on each node collects the blocks of its ranks and hands them "
                        "those of other nodes, which go around a ring of nodes.",
                .cost = irregular ? "n nodes: N (n-1) alpha + about beta (M + n/N times the "
                                    "largest block of a node)"
                                  : "n nodes of k ranks: (n-1) (N alpha + beta k m)",
                .source = lanes_paper,
                .nodes = true,
                .any_placement = true,
                .lanes = true,
                .sizes = irregular,
                .segments = true,
                .describe = TwoLevel<collective>::describe,
                .plan = TwoLevel<collective>::plan,
                .plan_all = TwoLevel<collective>::plan_all,
                .plan_one = TwoLevel<collective>::plan_one,
                .check = TwoLevel<collective>::check},
  };
}

inline constexpr auto algorithms = rows<Collective::allgather>();
inline constexpr auto irregular_algorithms = rows<Collective::allgatherv>();

}  // namespace sibyl::allgather
