// Allreduce on two levels: a ring between nodes that need not wait for late ones, sums of their
// ranks within.
//
// Idea: a node counts as one rank, which comes when the last of its ranks does. Its leader adds up
// the members' pieces before the ring first needs them, and hands them the sums one by one.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: required. In place: at any rank.
// Cost on n nodes: 2 (n-1) (ceil(N/n) alpha + beta m/n) between nodes, while the memory of each
// takes 2 k m; after late nodes what pre_reduced_ring.cpp says. Source: ../two_level.hpp for the
// levels, pre_reduced_ring.cpp for what goes between nodes.
#pragma once

#include "planners/allreduce/allreduce.hpp"
#include "planners/two_level.hpp"

namespace sibyl::allreduce {

using TwoLevel = TwoLevels<Collective::allreduce,
                           described_and_planned<describe_pre_reduced_ring, plan_pre_reduced_ring>,
                           check_pre_reduced_ring>;

}  // namespace sibyl::allreduce
