// Inclusive and exclusive scans of large vectors, segment by segment along trees.
//
// Idea: the vector is cut into N segments that follow each other through a tree in which ranks
// stand in order (scan_tree.hpp): sums of subtrees go up, sums of all ranks below a subtree come
// down, and a segment is under way to one rank while the one before it is under way to the next. A
// long vector then costs its transfer once or twice instead of once per round of a doubling scan.
//
// p no power of two: nothing special. Commutativity: not needed; sums are always of consecutive
// ranks, and what comes from below stands left.
// Cost: the chain (p - 2 + N) (alpha + beta m/N). The two trees, each for every other segment,
// about (2 N + 4 log2 p) (alpha + beta m/N): a rank that is inner in one tree has three messages in
// and out per segment there and one as a leaf of the other. At most three applications of the
// operator per segment. Source: P. Sanders, J. Speck, J. L. Traeff, Two-tree Algorithms for Full
// Bandwidth Broadcast,
//   Reduction and Scan, 2009, sections 2 and 5; the chain as there in section 1.
#pragma once

#include <cstdint>
#include <string>

#include "planners/papers.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

enum class Pipeline : std::uint8_t { chain, two_tree };

// The planner of the tables' rows, for Collective::exscan and Collective::scan.
template <Collective collective, Pipeline pipeline>
PlanHeader describe_pipelined(const PlanRequest& request);
template <Collective collective, Pipeline pipeline>
void plan_pipelined(const PlanRequest& request, Rank rank, Program& program);

// Empty, or what is wrong with the number of segments.
std::string check_pipelined(const PlanRequest& request);

// The rows of both tables. m is the size of the vector.
template <Collective collective_of_row>
inline constexpr Algorithm pipelined_chain{
    .collective = collective_of_row,
    .name = "pipelined-chain",
    .published = "pipelined linear array",
    .idea =
        "Segments of the vector follow each other from rank to rank, each taking up an operand "
        "at every rank.",
    .cost = "(p - 2 + N) (alpha + beta m/N) in N segments",
    .source = two_tree_paper,
    .chain = true,
    .segments = true,
    .describe = describe_pipelined<collective_of_row, Pipeline::chain>,
    .plan = plan_pipelined<collective_of_row, Pipeline::chain>,
    .check = check_pipelined};
template <Collective collective_of_row>
inline constexpr Algorithm two_tree{
    .collective = collective_of_row,
    .name = "two-tree",
    .published = "two-tree",
    .idea =
        "Every other segment goes up and down a second tree in which the first one's leaves are "
        "the inner ranks, so that all ports are evenly busy.",
    .cost = "about (2 N + 4 log2 p) (alpha + beta m/N) in N segments",
    .source = two_tree_paper,
    .segments = true,
    .describe = describe_pipelined<collective_of_row, Pipeline::two_tree>,
    .plan = plan_pipelined<collective_of_row, Pipeline::two_tree>,
    .check = check_pipelined};

}  // namespace sibyl
