// Irregular gather in simulated time: theorem 2.4, and sizes that follow blocks along the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "planners/ceil_log2.hpp"
#include "planners/ordered_tree.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/network.hpp"

namespace sibyl {
namespace {

SimulationResult gather(Rank ranks, Rank root, const std::vector<std::uint64_t>& sizes,
                        bool construct = true) {
  PlanRequest request;
  request.ranks = ranks;
  request.root = root;
  if (construct) request.sizes = sizes;
  SimulationOptions options;
  options.network.hockney = {alpha, beta};
  DataSizes data;
  data.block_bytes = sizes;
  const SimulationResult result = simulate(
      make_plan(*find_algorithm(Collective::gatherv, "ordered-tree"), request), data, options);
  EXPECT_EQ(result.problem, "");
  return result;
}

// The additive penalty of lemma 2.2: the root waits for a cube that takes longer than what it has
// received before.
double penalty(Rank root, const std::vector<std::uint64_t>& sizes) {
  double worst = 0;
  double before = 0;
  for (const OrderedChild& child : ordered_node(root, sizes, root).children) {
    const auto total = static_cast<double>(child.total);
    const auto own = static_cast<double>(sizes[static_cast<std::size_t>(child.rank)]);
    worst = std::max(worst, total - own - before);
    before += total;
  }
  return worst * beta;
}

double data_of_others(Rank root, const std::vector<std::uint64_t>& sizes) {
  const auto all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  return static_cast<double>(all - sizes[static_cast<std::size_t>(root)]);
}

TEST(IrregularGather, TakesNoLongerThanTheoremTwoFour) {
  SplitMix64 random(7);
  for (const Rank ranks : {2, 3, 4, 5, 7, 8, 11, 13, 16, 31, 48, 100}) {
    const double d = ceil_log2(static_cast<std::uint64_t>(ranks));
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<std::uint64_t> sizes;
      for (Rank r = 0; r < ranks; ++r) {
        // Small, large and no blocks.
        const std::uint64_t drawn = random.next();
        sizes.push_back(drawn % 7 == 0 ? 0 : drawn % 11 == 0 ? 5000 : drawn % 64);
      }
      const auto root = static_cast<Rank>(random.next() % static_cast<std::uint64_t>(ranks));
      const SimulationResult result = gather(ranks, root, sizes);
      EXPECT_LE(result.run_time,
                3 * d * alpha + beta * data_of_others(root, sizes) + penalty(root, sizes))
          << ranks << " ranks, root " << root;
      EXPECT_GE(result.run_time, beta * data_of_others(root, sizes));
    }
  }
}

// Equal blocks, a power of two: nobody waits, and the construction's 2 d - 1 messages all count.
TEST(IrregularGather, TakesExactlyTheMessagesOfTheoremTwoFourForEqualBlocks) {
  for (const Rank ranks : {2, 4, 8, 16, 64}) {
    const double d = ceil_log2(static_cast<std::uint64_t>(ranks));
    const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(ranks), 48);
    const double data = beta * 48 * (ranks - 1);
    EXPECT_DOUBLE_EQ(gather(ranks, 0, sizes).run_time, (2 * d - 1 + d) * alpha + data);
    // The tree of equal blocks is known without messages.
    EXPECT_DOUBLE_EQ(gather(ranks, 0, sizes, false).run_time, d * alpha + data);
  }
}

TEST(IrregularGather, MovesEachBlockOncePerEdgeOfItsTree) {
  const std::vector<std::uint64_t> sizes = {3, 50, 0, 7, 1000, 2, 90};
  for (Rank root = 0; root < 7; ++root) {
    std::uint64_t expected = 0;
    for (Rank r = 0; r < 7; ++r) {
      if (r != root) expected += ordered_node(r, sizes, root).total;
    }
    EXPECT_EQ(gather(7, root, sizes).bytes, expected) << "root " << root;
  }
}

TEST(IrregularScatter, MovesWhatIrregularGatherMoves) {
  const std::vector<std::uint64_t> sizes = {3, 50, 0, 7, 1000, 2, 90};
  for (Rank root = 0; root < 7; ++root) {
    PlanRequest request;
    request.ranks = 7;
    request.root = root;
    request.sizes = sizes;
    DataSizes data;
    data.block_bytes = sizes;
    const SimulationResult result = simulate(
        make_plan(*find_algorithm(Collective::scatterv, "ordered-tree"), request), data, {});
    ASSERT_EQ(result.problem, "");
    EXPECT_EQ(result.bytes, gather(7, root, sizes).bytes) << "root " << root;
  }
}

}  // namespace
}  // namespace sibyl
