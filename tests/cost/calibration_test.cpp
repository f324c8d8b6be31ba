// What messages cost: measured once per kind of communicator, the same on all ranks, and settable.
#include "cost/calibration.hpp"

#include "communicator/communicator_state.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr int tag = 0;

CommunicatorState& served_state(const Duplicate& duplicate) {
  CommunicatorState* state = CommunicatorState::get(duplicate.get());
  EXPECT_TRUE(state->serves(duplicate.get(), true));
  return *state;
}

TEST(Calibration, MeasuresWhatCanBe) {
  const Duplicate duplicate;
  const Costs costs = measure_costs(duplicate.get(), tag, {});
  EXPECT_EQ(costs.known(), size_of() > 1);
  if (!costs.known()) return;
  // A message within this machine takes 100 ns at least, and on a machine that is busy with other
  // things the fastest of several seldom a time slice or two.
  EXPECT_GT(costs.alpha, 1e-7);
  EXPECT_LT(costs.alpha, 0.05);
  EXPECT_GT(costs.overhead, 0);
  EXPECT_LT(costs.beta, 1e-4);
  EXPECT_GE(costs.gathered, 0);     // 0 where the machine was too busy to tell
  EXPECT_LT(costs.gathered, 0.05);  // as a whole message
  EXPECT_GE(costs.scattered, 0);
  EXPECT_LT(costs.scattered, 0.05);
  EXPECT_GE(costs.gamma, 0);
  EXPECT_LT(costs.gamma, 1e-6);
}

// A pretended placement: one node holds all ranks but the last.
TEST(Calibration, MeasuresWhatRanksOfANodeDoTogether) {
  if (size_of() < 3) GTEST_SKIP() << "no node of several ranks beside another";
  const Duplicate duplicate;
  Placement placement;
  placement.nodes.assign(static_cast<std::size_t>(size_of()), 0);
  placement.nodes.back() = 1;
  placement.count = 2;
  const Costs costs = measure_costs(duplicate.get(), tag, placement);
  EXPECT_GT(costs.fold, 1e-12);
  EXPECT_LT(costs.fold, 1e-5);
  EXPECT_GT(costs.fold_together, 1e-12);
  EXPECT_GE(costs.overhead_together, costs.overhead);
  EXPECT_GE(costs.beta_together, costs.beta);
  const Costs alone = measure_costs(duplicate.get(), tag, {.ranks_per_node = size_of()});
  EXPECT_EQ(alone.fold, 0);
  const Costs apart = measure_costs(duplicate.get(), tag, placement, false);
  EXPECT_TRUE(apart.known());
  EXPECT_GT(apart.beta_together, 1e-12);
  EXPECT_EQ(apart.gamma, 0) << "no operator is applied";
  EXPECT_EQ(apart.fold, 0);
  EXPECT_EQ(apart.fold_together, 0);
}

TEST(Calibration, IsTheSameOnAllRanksAndOnTheNextCommunicator) {
  if (size_of() < 2) GTEST_SKIP() << "nothing to measure";
  const Duplicate first;
  CommunicatorState& measured = served_state(first);
  EXPECT_FALSE(measured.known_costs().known());
  measured.find_costs(tag);
  const Costs own = measured.known_costs();
  Costs theirs = own;
  MPI_Bcast(&theirs, sizeof theirs, MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(own.alpha, theirs.alpha);
  EXPECT_EQ(own.overhead, theirs.overhead);
  EXPECT_EQ(own.beta, theirs.beta);
  EXPECT_EQ(own.gamma, theirs.gamma);
  EXPECT_EQ(own.fifo_links, theirs.fifo_links);
  EXPECT_EQ(own.gathered, theirs.gathered);
  EXPECT_EQ(own.scattered, theirs.scattered);
  EXPECT_EQ(own.fold, theirs.fold);
  EXPECT_EQ(own.fold_together, theirs.fold_together);
  EXPECT_EQ(own.beta_together, theirs.beta_together);
  const Duplicate second;
  CommunicatorState& known = served_state(second);
  known.find_costs(tag);
  EXPECT_EQ(known.known_costs().beta, own.beta);
  EXPECT_EQ(known.known_costs().overhead, own.overhead);
  EXPECT_EQ(known.known_costs().fifo_links, own.fifo_links);
}

TEST(Calibration, WhatIsSetHolds) {
  if (size_of() < 2) GTEST_SKIP() << "nothing to measure";
  const Duplicate duplicate;
  CommunicatorState& state = served_state(duplicate);
  Settings settings = state.settings();
  settings.alpha = 50000;
  settings.overhead = 2000;
  settings.beta = 8000;
  state.replace_settings(settings);
  state.find_costs(tag);
  EXPECT_DOUBLE_EQ(state.known_costs().alpha, 50e-6);
  EXPECT_DOUBLE_EQ(state.known_costs().overhead, 2e-6);
  EXPECT_DOUBLE_EQ(state.known_costs().beta, 8e-9);
}

}  // namespace
}  // namespace sibyl::test
