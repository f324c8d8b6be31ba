// The papers that several rows of the table name as their source.
#pragma once

#include <string_view>

namespace sibyl {

inline constexpr std::string_view scan_family_paper =
    "J. L. Traeff, Communication Round and Computation Efficient Exclusive Prefix-Sums Algorithms "
    "(for MPI_Exscan), 2025, algorithm 1 and theorem 1";
inline constexpr std::string_view linear_blocks_paper =
    "J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and gather "
    "operations, 2020, section 3";
inline constexpr std::string_view ordered_tree_paper =
    "J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather and "
    "Scatter, 2017, lemmas 2.1 and 2.2";
inline constexpr std::string_view irregular_paper =
    "J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather and "
    "Scatter, 2017, lemmas 2.1 to 2.3 and theorem 2.4";
inline constexpr std::string_view two_tree_paper =
    "P. Sanders, J. Speck, J. L. Traeff, Two-tree Algorithms for Full Bandwidth Broadcast, "
    "Reduction and Scan, 2009";

inline constexpr std::string_view circulant_broadcast_paper =
    "J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, "
    "All-Broadcast, Reduction and All-Reduction, 2024 (arXiv 2407.18004)";
inline constexpr std::string_view circulant_sums_paper =
    "J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024 (arXiv "
    "2410.14234)";
inline constexpr std::string_view doubling_paper =
    "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for All-to-All "
    "Communications in Multiport Message-Passing Systems, 1997";
inline constexpr std::string_view recursive_multiplying_paper =
    "M. Ruefenacht, M. Bull, S. Booth, Generalisation of Recursive Doubling for AllReduce, 2017";
inline constexpr std::string_view rabenseifner_paper =
    "R. Rabenseifner, Optimization of Collective Reduction Operations, 2004";
inline constexpr std::string_view radix_k_paper =
    "T. Peterka, D. Goodell, R. Ross, H.-W. Shen, R. Thakur, A Configurable Algorithm for Parallel "
    "Image-Compositing Applications, 2009";
inline constexpr std::string_view rings_paper =
    "M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global Combine on Mesh "
    "Architectures, 1993";
inline constexpr std::string_view pipelines_paper =
    "J. Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations, 2007, section "
    "3";
inline constexpr std::string_view lanes_paper =
    "J. L. Traeff, S. Hunold, Decomposing MPI Collectives for Exploiting Multi-lane Communication, "
    "2020 (arXiv 1910.13373), section 3";

}  // namespace sibyl
