// Reduce on two levels: Clairvoyant between nodes, sums of their ranks within.
//
// Idea: a node counts as one rank, which comes when the last of its ranks does. Its leader, at the
// root's node the root, adds up the members' segments before the schedule first sends them, in the
// order in which the members come.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: required; operands come together in the order of arrival. In place: at the root.
// Cost after the last arrival on n nodes: about N + log2 n rounds of alpha + beta m/N between
// nodes, while the memory of each takes k m. Source: ../two_level.hpp for the levels,
// clairvoyant.cpp for what goes between nodes.
#pragma once

#include "planners/reduce/clairvoyant.hpp"
#include "planners/two_level.hpp"

namespace sibyl::reduce {

using TwoLevel = TwoLevels<Collective::reduce, plan_one_clairvoyant, check_clairvoyant>;

}  // namespace sibyl::reduce
