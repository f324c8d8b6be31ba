// The messages of large subtrees: they hold every block of their cube once, several only where each
// is worth a message, and the plans that have them are proved.
#include "planners/gather_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "planners/irregular_sizes.hpp"
#include "planners/ordered_programs.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

using Cube = JoinOrder::Cube;

GatherMessages messages_of(const std::vector<OrderedNode>& nodes, std::uint64_t part_from,
                           Rank per_node = 1) {
  const JoinOrder order(static_cast<Rank>(nodes.size()), per_node);
  return {static_cast<Rank>(nodes.size()),
          [&](Rank place) -> const OrderedNode& { return nodes[static_cast<std::size_t>(place)]; },
          {part_from, order.within()}};
}

std::uint64_t sum_of(const Sizes& sizes, const Cube& cube) {
  return std::accumulate(sizes.begin() + cube.first, sizes.begin() + cube.end, std::uint64_t{0});
}

TEST(GatherParts, HoldEveryBlockOnceAndAreWorthAMessageEach) {
  std::mt19937_64 random(20261125);
  int split = 0;
  for (Rank ranks = 1; ranks <= 120; ++ranks) {
    for (const Sizes& sizes : problems(ranks, 100, static_cast<std::uint32_t>(ranks))) {
      const auto root = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks));
      const auto per_node = static_cast<Rank>(1 + random() % 9);
      const std::uint64_t part_from = random() % 1500 + 1;
      const auto nodes = ordered_nodes(sizes, root, NodeOrder(ranks, per_node));
      const GatherMessages messages = messages_of(nodes, part_from, per_node);
      for (Rank place = 0; place < ranks; ++place) {
        if (place == root) continue;
        const OrderedNode& node = nodes[static_cast<std::size_t>(place)];
        const auto sent = messages.of(place, {node.first, node.first + node.count});
        ASSERT_LE(sent.size(), messages.most());
        std::vector<int> held(static_cast<std::size_t>(node.count), 0);
        for (const Cube& cube : sent) {
          ASSERT_FALSE(cube.empty());
          for (Rank at = cube.first; at < cube.end; ++at) {
            ++held.at(static_cast<std::size_t>(at - node.first));
          }
          if (sent.size() > 1) {
            ASSERT_TRUE(cube.size() >= per_node || cube.end == ranks) << "less than a node";
            ASSERT_GE(sum_of(sizes, cube), part_from) << ranks << " ranks, root " << root;
          }
        }
        ASSERT_EQ(std::ranges::count(held, 1), node.count) << ranks << " ranks, root " << root;
        split += sent.size() > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(split, 300);
}

// Too little, within a node, and so much that a latency does not count.
TEST(GatherParts, AreNoneWhereThatSavesNothing) {
  const Sizes sizes(8, 100);
  const auto nodes = ordered_nodes(sizes, 0, NodeOrder(8, 1));
  EXPECT_EQ(messages_of(nodes, 200).of(4, {4, 8}).size(), 2U);
  EXPECT_EQ(messages_of(nodes, 201).of(4, {4, 8}).size(), 1U);
  EXPECT_EQ(messages_of(nodes, 200, 4).of(4, {4, 8}).size(), 1U) << "one node";
  EXPECT_EQ(messages_of(nodes, 25).of(4, {4, 8}).size(), 4U);
  EXPECT_EQ(messages_of(nodes, 20).of(4, {4, 8}).size(), 1U) << "too many messages' worth";
  EXPECT_EQ(messages_of(ordered_nodes(Sizes(8, 0), 0, NodeOrder(8, 1)), 0).most(), 1U);
}

// The nodes of a machine: from four of them on a message.
TEST(GatherParts, OfNodesAreThoseOfFour) {
  const Rank nodes = 35;
  const Rank per_node = 16;
  const Sizes sizes(static_cast<std::size_t>(nodes * per_node), 96);
  const auto tree = ordered_nodes(sizes, 0, NodeOrder(nodes * per_node, per_node));
  const GatherMessages messages = messages_of(tree, 4096, per_node);
  std::vector<Rank> received;
  for (const OrderedChild& child : tree[0].children) {
    for (const Cube& cube : messages.of(child.rank, {child.first, child.first + child.count})) {
      if (cube.size() >= per_node) received.push_back(cube.size() / per_node);
    }
  }
  EXPECT_EQ(received, (std::vector<Rank>{1, 2, 4, 4, 4, 4, 4, 4, 4, 3}));
}

TEST(GatherParts, AreProvedForAllRootsWhereverRanksLie) {
  std::mt19937_64 random(22);
  Verifier verifier;
  std::size_t most = 0;
  for (Rank ranks = 1; ranks <= (sanitized ? 20 : 40); ++ranks) {
    std::vector<Rank> node_of;
    for (Rank rank = 0; rank < ranks; ++rank) {
      node_of.push_back(ranks % 2 == 0 ? rank % (1 + ranks / 4) : rank / 3);
    }
    const Algorithm& algorithm = *find_algorithm(Collective::gatherv, "ordered-tree");
    for (Rank root = 0; root < ranks; ++root) {
      const auto all = problems(ranks, 100, static_cast<std::uint32_t>(random()));
      PlanRequest request =
          irregular_request(all[random() % all.size()], root, 150 + random() % 400, 1);
      request.nodes = node_of;
      request.constructed = root % 2 == 0;
      const Plan plan = make_plan(algorithm, request);
      const VerifyResult result = verifier.verify(plan);
      ASSERT_TRUE(result.ok) << ranks << " ranks, root " << root << ": " << result.problem;
      most = std::max<std::size_t>(most, gather_messages(request, TreeBlocks(request)).most());
    }
  }
  EXPECT_GT(most, 2U);
}

}  // namespace
}  // namespace sibyl
