// Allgather on two levels: a ring of nodes, each of which hands its ranks what has come.
//
// Idea: a node counts as one rank, whose block is the blocks of its ranks. Its leader collects
// them, sends on to the next node what came from the one before, and gives its ranks what it has,
// segment after segment.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator. In place: at any rank.
// Cost on n nodes of k ranks, blocks of m in N segments: (n-1) (N alpha + beta k m) between nodes,
// while the memory of each takes k M for all blocks, M; nodes of different sizes: about
// beta (M + n/N times the largest). Source: ../two_level.hpp for the levels, ring.cpp for what goes
// between nodes.
//
// Blocks of a node that lie apart are one packed message.
#pragma once

#include "planners/allgather/allgather.hpp"
#include "planners/parts.hpp"
#include "planners/two_level.hpp"

namespace sibyl::allgather {

template <Collective collective>
using TwoLevel = TwoLevels<collective, described_and_planned<describe_ring<collective>, plan_ring>,
                           check_segments_of_blocks>;

}  // namespace sibyl::allgather
