// The algorithms of reduce_scatter and reduce_scatter_block: their rows of the one table
// (../algorithms.cpp). They are the same; blocks of different sizes change nothing in what is sent
// where.
#pragma once

#include <array>

#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::reduce_scatter {

// m is the size of the whole vector.
template <Collective collective>
constexpr std::array<Algorithm, 5> rows() {
  constexpr bool irregular = collective == Collective::reduce_scatter;
  return {
      Algorithm{.collective = collective,
                .name = "doubling",
                .published = "recursive multiplying",
                .idea = "All ranks get the sum of the whole vector, by groups of neighbours as "
                        "large as p has factors, and keep their block.",
                .cost = "p = f1 f2 ...: ceil(log2 p) alpha + (sum of f_i - 1) beta m",
                .source = recursive_multiplying_paper,
                .sizes = irregular,
                .describe = describe_doubling<collective>,
                .plan = plan_doubling,
                .check = check_part_per_rank},
      Algorithm{.collective = collective,
                .name = "circulant",
                .published = "circulant reduce-scatter",
                .idea = "A rank gives half of the blocks that it still adds up to a rank far "
                        "above, then half of the rest to a nearer one.",
                .cost = "ceil(log2 p) alpha + (p-1)/p beta m; an alpha more in a round whose "
                        "blocks go past the last rank, which are two messages",
                .source = circulant_sums_paper,
                .commutative_only = true,
                .sizes = irregular,
                .describe = describe_circulant<collective>,
                .plan = plan_circulant,
                .check = check_part_per_rank},
      Algorithm{.collective = collective,
                .name = "ring",
                .published = "RING, bucket",
                .idea = "The sum of a block goes around a ring, takes up an operand at every rank "
                        "and ends where it belongs; in N segments where blocks are large.",
                .cost = "(p-1) (N alpha + beta m/p)",
                .source = rings_paper,
                .commutative_only = true,
                .sizes = irregular,
                .segments = true,
                .describe = describe_ring<collective>,
                .plan = plan_ring,
                .check = check_part_per_rank_in_segments},
      Algorithm{.collective = collective,
                .name = "pairwise",
                .published = "pairwise exchange",
                .idea = "Every rank sends its operand of a block straight to the rank whose block "
                        "it is, which adds up in rank order.",
                .cost = "(p-1) (alpha + beta m/p)",
                .source = "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective "
                          "Communication Operations in MPICH, 2005, section 6",
                .sizes = irregular,
                .describe = describe_pairwise<collective>,
                .plan = plan_pairwise,
                .check = check_part_per_rank},
      Algorithm{.collective = collective,
                .name = "two-level",
                .published = "two levels, rings between nodes",
                .idea = "A rank adds up what its node has of the blocks of all ranks in its place "
                        "on their nodes; the sums go around a ring of these ranks, which ends "
                        "where they belong.",
                .cost = "n nodes of k ranks: (n-1) (N alpha + beta m/n) between nodes, "
                        "n (k-1) alpha + (k-1)/k beta m within",
                .source = lanes_paper,
                .commutative_only = true,
                .nodes = true,
                .any_placement = true,
                .sizes = irregular,
                .segments = true,
                .describe = describe_two_level<collective>,
                .plan = plan_two_level,
                .check = check_part_per_rank_in_segments},
  };
}

inline constexpr auto irregular_algorithms = rows<Collective::reduce_scatter>();
inline constexpr auto algorithms = rows<Collective::reduce_scatter_block>();

}  // namespace sibyl::reduce_scatter
