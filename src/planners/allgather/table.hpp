// The algorithms of allgather and allgatherv: their rows of the one table (../algorithms.cpp). They
// are the same; blocks of different sizes change nothing in what is sent where.
#pragma once

#include <array>

#include "planners/allgather/allgather.hpp"
#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::allgather {

// m is the size of one block, M of all of them.
template <Collective collective>
constexpr std::array<Algorithm, 3> rows() {
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
                .name = "spread",
                .published = "BDR",
                .idea = "Every rank sends its block to all others, the next one first; a late rank "
                        "delays only its own block.",
                .cost = irregular ? "(p-1) alpha + beta (p-1) times the largest block"
                                  : "(p-1) (alpha + beta m)",
                .source = "J. Proficz, All-gather Algorithms Resilient to Imbalanced Process "
                          "Arrival Patterns, 2021",
                .background = true,
                .sizes = irregular,
                .describe = describe_spread<collective>,
                .plan = plan_spread},
  };
}

inline constexpr auto algorithms = rows<Collective::allgather>();
inline constexpr auto irregular_algorithms = rows<Collective::allgatherv>();

}  // namespace sibyl::allgather
