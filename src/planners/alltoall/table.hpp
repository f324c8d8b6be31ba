// The algorithms of alltoall and alltoallv: their rows of the one table (../algorithms.cpp).
#pragma once

#include <array>

#include "planners/alltoall/alltoall.hpp"
#include "planners/papers.hpp"
#include "planners/parts.hpp"
#include "sibyl/planners.hpp"

namespace sibyl::alltoall {

// m is the size of one block.
inline constexpr std::string_view exchanges_paper =
    "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in "
    "MPICH, 2005, section 5";

template <Collective collective>
constexpr Algorithm pairwise_row() {
  constexpr bool irregular = collective == Collective::alltoallv;
  return {.collective = collective,
          .name = "pairwise",
          .published = "pairwise exchange",
          .idea =
              "In round t every rank sends to the rank t above and receives from the one t "
              "below, one round after the other.",
          .cost = irregular ? "(p-1) alpha + beta (sum of the largest block of each round)"
                            : "(p-1) (alpha + beta m)",
          .source = exchanges_paper,
          .background = true,
          .sizes = irregular,
          .describe = describe_pairwise<collective>,
          .plan = plan_shifted,
          .check = check_part_per_rank};
}

template <Collective collective>
constexpr Algorithm shifted_row() {
  constexpr bool irregular = collective == Collective::alltoallv;
  return {.collective = collective,
          .name = "shifted",
          .published = "linear, first come first served",
          .idea =
              "All receives are open from the start and a few sends are under way at a time, "
              "each rank beginning with another one.",
          .cost = irregular ? "(p-1) alpha + beta times the largest row or column"
                            : "(p-1) (alpha + beta m)",
          .source = exchanges_paper,
          .background = true,
          .sizes = irregular,
          .segments = true,
          .describe = describe_shifted<collective>,
          .plan = plan_shifted,
          .check = check_part_per_rank_in_segments};
}

inline constexpr std::array algorithms{
    pairwise_row<Collective::alltoall>(), shifted_row<Collective::alltoall>(),
    Algorithm{.collective = Collective::alltoall,
              .name = "bruck",
              .published = "Bruck, index",
              .idea = "A block goes 2^k ranks up in round k, for every binary digit k of its way, "
                      "in one message with all others that do.",
              .cost = "ceil(log2 p) (alpha + about beta m p/2)",
              .source = doubling_paper,
              .describe = describe_bruck,
              .plan = plan_bruck,
              .check = check_part_per_rank},
    Algorithm{.collective = Collective::alltoall,
              .name = "two-level",
              .published = "hierarchical all-to-all",
              .idea = "Every rank stands for some of the other nodes: its node hands it the blocks "
                      "for these, it exchanges one message with each and hands out what has come.",
              .cost = "n nodes of k ranks: ceil((n-1)/k) alpha + beta k (p-k) m between nodes, "
                      "2 (k-1) alpha + about 2 beta p m within",
              .source = "J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical "
                        "All-to-all Communication, 2014",
              .nodes = true,
              .any_placement = true,
              .describe = describe_two_level,
              .plan = plan_two_level,
              .check = check_part_per_rank}};

inline constexpr std::array irregular_algorithms{pairwise_row<Collective::alltoallv>(),
                                                 shifted_row<Collective::alltoallv>()};

}  // namespace sibyl::alltoall
