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
  EXPECT_DOUBLE_EQ(bound(Operation::bcast, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
  EXPECT_DOUBLE_EQ(bound(Operation::allreduce, {1, 0, 0, 0}, bytes), 1 + 1e-4 + 1e-2);
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
}

TEST(Bounds, OfOneRankIsNothing) {
  for (const OperationTraits& row : operations()) {
    EXPECT_EQ(bound(row.operation, {3}, {1e6}), 0) << row.name;
  }
}

}  // namespace
}  // namespace sibyl::bench
