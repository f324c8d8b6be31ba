// The lower bounds against the estimates of the papers and hand-made cases.
#include "bench/bounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sibyl::bench {
namespace {

constexpr Network network{1e-4, 1e-8};

double bound(Operation operation, const std::vector<double>& arrivals,
             const std::vector<double>& bytes, int root = 0) {
  return run_time_bound(operation, arrivals, bytes, root, network);
}

TEST(Bounds, OfAFlatGatherIsTheRootsLink) {
  EXPECT_DOUBLE_EQ(bound(Operation::gather, {0, 0, 0, 0}, {1e6, 1e6, 1e6, 1e6}), 1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::scatter, {0, 0, 0, 0}, {1e6, 1e6, 1e6, 1e6}), 1e-4 + 3e-2);
}

TEST(Bounds, OfAGatherCountWhatArrivesLate) {
  // One block after the last arrival, which is later than the others take.
  EXPECT_DOUBLE_EQ(bound(Operation::gather, {0, 0, 0, 1}, {1e6, 1e6, 1e6, 1e6}), 1 + 1e-4 + 1e-2);
  // Two blocks that arrive together.
  EXPECT_DOUBLE_EQ(bound(Operation::gatherv, {0, 0, 1, 1}, {1e6, 1e6, 1e6, 2e6}), 1 + 1e-4 + 3e-2);
  // A late root received in the background.
  EXPECT_DOUBLE_EQ(bound(Operation::gather, {1, 0, 0, 0}, {1e6, 1e6, 1e6, 1e6}), 1);
  // Empty blocks need no message.
  EXPECT_DOUBLE_EQ(bound(Operation::gatherv, {0, 0, 1}, {0, 1e6, 0}), 1);
}

TEST(Bounds, OfAScatterWaitForTheRootOnly) {
  EXPECT_DOUBLE_EQ(bound(Operation::scatter, {1, 0, 0}, {1e6, 1e6, 1e6}), 1 + 1e-4 + 2e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::scatter, {0, 0, 1}, {1e6, 1e6, 1e6}), 1);
}

TEST(Bounds, OfWhatGuidelinesCompareWith) {
  const std::vector<double> bytes(4, 1e6);
  EXPECT_DOUBLE_EQ(bound(Operation::padded_gather, {0, 0, 0, 1}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::padded_scatter, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::allgather, {0, 0, 0, 0}, bytes), 1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::gather_bcast, {0, 0, 0, 0}, bytes), 1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::scatter_allgather, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::bcast, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
}

TEST(Bounds, OfABcastIsAVectorAtTheLastRank) {
  const std::vector<double> bytes(4, 1e6);
  EXPECT_DOUBLE_EQ(bound(Operation::bcast, {0, 0, 0, 0}, bytes), 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::bcast, {0, 0, 0, 1}, bytes), 1 + 1e-4 + 1e-2);
  // Of a short vector the rounds from the root count.
  EXPECT_DOUBLE_EQ(bound(Operation::bcast, {1, 0, 0, 0, 0}, std::vector<double>(5, 8)), 1 + 3e-4);
}

TEST(Bounds, OfAnAllreduceCountTheMergesThatAreLeft) {
  const std::vector<double> bytes(4, 1e6);
  // Flat: three merges and three deliveries over four ports.
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {0, 0, 0, 0}, bytes), 1e-4 + 1.5e-2);
  // One late: one merge is left.
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {0, 1, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
  // Late by so little that only a part has been merged: three ports for 2 ms of 10 ms.
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {0, 2e-3, 0, 0}, bytes),
                   2e-3 + 1e-4 + 1e-8 * (6e6 - 3 * 2e5) / 4);
  // Two late: a merge before, two after.
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {0, 1, 1, 0}, bytes), 1 + 1e-4 + 1.25e-2);
  // The rounds of a short one.
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {0, 0, 0, 0}, std::vector<double>(4, 8)), 2e-4);
}

TEST(Bounds, OfAReduceScatterAreWhatEveryRankHasForOthers) {
  EXPECT_DOUBLE_EQ(bound(Operation::reduce_scatter_block, {0, 0, 0, 0}, {1e6, 1e6, 1e6, 1e6}),
                   1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::reduce_scatter, {0, 1, 0, 0}, {1e6, 3e6, 1e6, 1e6}),
                   1 + 1e-4 + 3e-2);
}

TEST(Bounds, OfAnAllgatherAreTheBlocksThatTheLastRankLacks) {
  EXPECT_DOUBLE_EQ(bound(Operation::allgatherv, {0, 0, 0, 0}, {1e6, 2e6, 3e6, 0}), 1e-4 + 6e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::allgather, {0, 0, 1, 0}, {1e6, 1e6, 1e6, 1e6}),
                   1 + 1e-4 + 3e-2);
}

TEST(Bounds, OfAnAllToAllAreTheLargestRowOrColumnThatIsLeft) {
  EXPECT_DOUBLE_EQ(bound(Operation::alltoall, {0, 0, 0}, {1e6, 1e6, 1e6}), 1e-4 + 2e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::alltoall, {0, 0, 1}, {1e6, 1e6, 1e6}), 1 + 1e-4 + 2e-2);
  // The column of rank 1; what a rank has for itself does not travel.
  EXPECT_DOUBLE_EQ(bound(Operation::alltoallv, {0, 0, 0}, {9e6, 2e6, 0, 0, 0, 1e6, 1e6, 3e6, 0}),
                   1e-4 + 5e-2);
  // Rank 0 comes late: its row of 2, its column of 1.
  EXPECT_DOUBLE_EQ(bound(Operation::alltoallv, {1, 0, 0}, {0, 2e6, 0, 0, 0, 1e6, 1e6, 3e6, 0}),
                   1 + 1e-4 + 2e-2);
}

TEST(Bounds, OfPersistentFormsLetReceiveBuffersBeFilledBefore) {
  const std::vector<double> bytes(4, 1e6);
  const std::vector<double> late{0, 0, 0, 1};
  const auto early = [&](Operation operation) {
    return run_time_bound(operation, late, bytes, 0, network, true);
  };
  EXPECT_DOUBLE_EQ(early(Operation::bcast), 1);
  EXPECT_DOUBLE_EQ(early(Operation::allgather), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(early(Operation::alltoall), 1 + 1e-4 + 3e-2);
  EXPECT_DOUBLE_EQ(early(Operation::allreduce), 1 + 1e-4 + 1e-2);
}

TEST(Bounds, OfABarrierAreItsRounds) {
  EXPECT_DOUBLE_EQ(bound(Operation::barrier, {0, 0.5, 0, 0, 0}, std::vector<double>(5, 0)),
                   0.5 + 3e-4);
}

TEST(Bounds, OfAReduceIsOneVectorAfterTheLastThatIsNotTheRoot) {
  const std::vector<double> bytes(4, 1e6);
  EXPECT_DOUBLE_EQ(bound(Operation::reduce, {0, 0, 0, 0}, bytes), 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::reduce, {0, 0.5, 0, 1}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::reduce, {1, 0, 0, 0}, bytes), 1);
  EXPECT_DOUBLE_EQ(bound(Operation::reduce, {5, 5, 5, 5}, bytes), 1e-4 + 1e-2);
}

TEST(Bounds, OfAScanAreItsRoundsAndTheLastRanksNeeds) {
  const std::vector<double> bytes(5, 1e6);
  EXPECT_DOUBLE_EQ(bound(Operation::exscan, {0, 0, 0, 0, 0}, bytes), 3e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::exscan, {0, 1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::exscan, {0, 0, 0, 0, 1}, bytes), 1);
}

TEST(Bounds, CountWhatCrossesBetweenNodes) {
  constexpr Network of_two{1e-4, 1e-8, 2};
  const auto on_nodes = [&](Operation operation, const std::vector<double>& arrivals, int root) {
    return run_time_bound(operation, arrivals, std::vector<double>(arrivals.size(), 1e6), root,
                          of_two);
  };
  EXPECT_DOUBLE_EQ(on_nodes(Operation::gather, {0, 0, 0, 0}, 1), 1e-4 + 2e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::gather, {1, 0, 0, 0}, 1), 1);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::scatter, {0, 0, 1, 0}, 2), 1 + 1e-4 + 2e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::reduce, {0, 1, 0.5, 0}, 0), 1);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::reduce, {0, 0, 0.5, 0}, 0), 0.5 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::exscan, {0, 0, 0, 0, 0, 0, 0, 0}, 0), 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::gather, {0, 1}, 0), 1);
  // Two nodes: a merge and a delivery over two links, whoever of a node is there first.
  EXPECT_DOUBLE_EQ(on_nodes(Operation::allreduce, {0, 0, 0, 0}, 0), 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::allreduce, {0, 0, 1, 0}, 0), 1 + 1e-4 + 0.5e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::bcast, {0, 0, 1, 0.5}, 0), 1);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::allgather, {0, 0, 0, 0}, 0), 1e-4 + 2e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::alltoall, {0, 0, 0, 0}, 0), 1e-4 + 4e-2);
  EXPECT_DOUBLE_EQ(on_nodes(Operation::barrier, {0, 0, 1, 0}, 0), 1 + 1e-4);
}

TEST(Bounds, OfOneRankIsNothing) {
  for (const OperationTraits& row : operations()) {
    EXPECT_EQ(bound(row.operation, {3}, {1e6}), 0) << row.name;
  }
}

}  // namespace
}  // namespace sibyl::bench
