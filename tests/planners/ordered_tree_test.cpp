// The ordered tree: gather times within the published bounds, construction by messages that ends in
// the same tree, within the published number of dependent messages.
#include "planners/ordered_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "planners/ceil_log2.hpp"
#include "planners/irregular_sizes.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

std::uint64_t sum(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

std::vector<OrderedNode> tree(const Sizes& sizes, Rank root, Rank per_node = 1) {
  const auto ranks = static_cast<Rank>(sizes.size());
  std::vector<OrderedNode> nodes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    nodes.push_back(ordered_node(rank, sizes, root, per_node));
  }
  return nodes;
}

Rank root_of(const std::vector<OrderedNode>& nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [](const OrderedNode& node) { return node.parent == no_rank; });
  return static_cast<Rank>(found - nodes.begin());
}

// Every rank under one parent, cubes that tile their parent's, rounds that rise, sizes that add up.
void expect_sound(const std::vector<OrderedNode>& nodes, const Sizes& sizes) {
  const auto ranks = static_cast<Rank>(nodes.size());
  int roots = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const OrderedNode& node = nodes[static_cast<std::size_t>(rank)];
    roots += node.parent == no_rank ? 1 : 0;
    Rank first = rank;
    Rank end = rank + 1;
    std::uint64_t total = sizes[static_cast<std::size_t>(rank)];
    int last_round = -1;
    for (const OrderedChild& child : node.children) {
      const OrderedNode& own = nodes[static_cast<std::size_t>(child.rank)];
      ASSERT_EQ(own.parent, rank);
      ASSERT_EQ(own.round, child.round);
      ASSERT_EQ(own.first, child.first);
      ASSERT_EQ(own.count, child.count);
      ASSERT_EQ(own.total, child.total);
      ASSERT_GT(static_cast<int>(child.round), last_round);
      last_round = static_cast<int>(child.round);
      ASSERT_TRUE(child.first == end || child.first + child.count == first) << "not side by side";
      first = std::min(first, child.first);
      end = std::max(end, child.first + child.count);
      total += child.total;
    }
    ASSERT_EQ(node.first, first);
    ASSERT_EQ(node.count, end - first);
    ASSERT_EQ(node.total, total);
    if (node.parent != no_rank) {
      ASSERT_GT(static_cast<int>(node.round), last_round);
    }
  }
  ASSERT_EQ(roots, 1);
  ASSERT_EQ(nodes[static_cast<std::size_t>(root_of(nodes))].count, ranks);
}

// When `rank` has gathered its cube in the linear model, one-ported, empty messages included.
double gather_time(const std::vector<OrderedNode>& nodes, Rank rank, double alpha) {
  double time = 0;
  for (const OrderedChild& child : nodes[static_cast<std::size_t>(rank)].children) {
    time = std::max(time, gather_time(nodes, child.rank, alpha)) + alpha +
           static_cast<double>(child.total);
  }
  return time;
}

TEST(OrderedTree, WithAFreeRootGathersInLinearTimeAfterLemma21) {
  for (Rank ranks = 1; ranks <= (sanitized ? 70 : 300); ++ranks) {
    const auto d = static_cast<double>(ceil_log2(static_cast<std::uint64_t>(ranks)));
    for (const Sizes& sizes : problems(ranks, 100, static_cast<std::uint32_t>(ranks))) {
      const auto nodes = tree(sizes, no_rank);
      expect_sound(nodes, sizes);
      const Rank root = root_of(nodes);
      for (const double alpha : {0.0, 1.0, 1000.0}) {
        ASSERT_LE(
            gather_time(nodes, root, alpha),
            d * alpha + static_cast<double>(sum(sizes) - sizes[static_cast<std::size_t>(root)]))
            << ranks << " ranks";
      }
    }
  }
}

TEST(OrderedTree, WithAGivenRootStaysWithinThePenaltyOfLemma22) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "one thread only, and a minute under this sanitizer";
#endif
  for (Rank ranks = 2; ranks <= (sanitized ? 40 : 300); ranks += ranks < 70 ? 1 : 23) {
    const auto d = static_cast<double>(ceil_log2(static_cast<std::uint64_t>(ranks)));
    for (const Sizes& sizes : problems(ranks, 64, static_cast<std::uint32_t>(ranks))) {
      for (Rank root = 0; root < ranks; root += ranks < 70 ? 1 : 7) {
        const auto nodes = tree(sizes, root);
        ASSERT_EQ(root_of(nodes), root);
        if (root % 5 == 0) expect_sound(nodes, sizes);
        // The largest wait for one of the cubes that the root takes in, beyond what came before.
        double penalty = 0;
        double before = 0;
        for (const OrderedChild& child : nodes[static_cast<std::size_t>(root)].children) {
          const double own =
              static_cast<double>(child.total - sizes[static_cast<std::size_t>(child.rank)]);
          penalty = std::max(penalty, own - before);
          before += static_cast<double>(child.total);
        }
        const auto data = static_cast<double>(sum(sizes) - sizes[static_cast<std::size_t>(root)]);
        for (const double alpha : {0.0, 10.0}) {
          ASSERT_LE(gather_time(nodes, root, alpha), d * alpha + data + penalty)
              << ranks << " ranks, root " << root;
        }
        ASSERT_LE(penalty, data);
      }
    }
  }
}

// Runs all ranks' constructions against each other; returns the longest chain of messages.
int construct(const Sizes& sizes, Rank root, Rank per_node, std::vector<OrderedNode>& nodes) {
  using Kind = OrderedConstruction::Kind;
  const auto ranks = static_cast<Rank>(sizes.size());
  std::vector<OrderedConstruction> machines;
  std::vector<int> clock(sizes.size(), 0);
  for (Rank rank = 0; rank < ranks; ++rank) {
    machines.emplace_back(rank, ranks, sizes[static_cast<std::size_t>(rank)], root, per_node);
  }
  const auto at = [](Rank rank) { return static_cast<std::size_t>(rank); };
  bool moved = true;
  while (moved) {
    moved = false;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const OrderedConstruction::Next now = machines[at(rank)].next();
      if (now.kind != Kind::exchange && now.kind != Kind::tell) continue;
      const OrderedConstruction::Next then = machines[at(now.peer)].next();
      const Kind answer = now.kind == Kind::exchange ? Kind::exchange : Kind::hear;
      if (then.kind != answer || then.peer != rank) continue;
      const int done = std::max(clock[at(rank)], clock[at(now.peer)]) + 1;
      // Who tells goes on at once; what it sends depends on what it has.
      clock[at(now.peer)] = done;
      clock[at(rank)] = now.kind == Kind::exchange ? done : clock[at(rank)] + 1;
      machines[at(rank)].complete(now.kind == Kind::exchange ? then.cube : OrderedCube{});
      machines[at(now.peer)].complete(now.cube);
      moved = true;
    }
  }
  nodes.clear();
  for (Rank rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(machines[at(rank)].next().kind, Kind::done) << "rank " << rank << " waits for ever";
    nodes.push_back(machines[at(rank)].node());
  }
  return *std::max_element(clock.begin(), clock.end());
}

void expect_equal(const OrderedNode& a, const OrderedNode& b) {
  ASSERT_EQ(a.parent, b.parent);
  ASSERT_EQ(a.round, b.round);
  ASSERT_EQ(a.first, b.first);
  ASSERT_EQ(a.count, b.count);
  ASSERT_EQ(a.total, b.total);
  ASSERT_EQ(a.children.size(), b.children.size());
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    ASSERT_EQ(a.children[i].rank, b.children[i].rank);
    ASSERT_EQ(a.children[i].round, b.children[i].round);
    ASSERT_EQ(a.children[i].first, b.children[i].first);
    ASSERT_EQ(a.children[i].count, b.children[i].count);
    ASSERT_EQ(a.children[i].total, b.children[i].total);
  }
}

void expect_construction(const Sizes& sizes, Rank root, Rank per_node = 1) {
  const JoinOrder order(static_cast<Rank>(sizes.size()), per_node);
  const auto d = static_cast<int>(order.iterations());
  std::vector<OrderedNode> built;
  const int chain = construct(sizes, root, per_node, built);
  ASSERT_LE(chain, std::max(0, 2 * d - 1)) << sizes.size() << " ranks, root " << root;
  for (Rank rank = 0; rank < static_cast<Rank>(sizes.size()); ++rank) {
    expect_equal(built[static_cast<std::size_t>(rank)], ordered_node(rank, sizes, root, per_node));
  }
}

TEST(OrderedConstruction, EndsInTheSameTreeWithFewDependentMessages) {
  for (Rank ranks = 1; ranks <= (sanitized ? 24 : 64); ++ranks) {
    for (const Sizes& sizes : problems(ranks, 10, static_cast<std::uint32_t>(ranks))) {
      for (Rank root = no_rank; root < ranks; ++root) expect_construction(sizes, root);
    }
  }
}

TEST(OrderedConstruction, DoesSoOnSamplesUpTo1100Ranks) {
  std::mt19937 random(7);
  for (const Rank ranks : {65, 127, 128, 129, 255, 300, 511, 513, 560, 1000, 1099, 1100}) {
    const auto all = problems(ranks, 1000, static_cast<std::uint32_t>(ranks));
    expect_construction(all[random() % all.size()],
                        static_cast<Rank>(random() % static_cast<unsigned>(ranks)));
    expect_construction(all[random() % all.size()], no_rank);
  }
}

TEST(OrderedConstruction, DoesSoWhereRanksShareNodes) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    const auto all = problems(ranks, 10, static_cast<std::uint32_t>(ranks));
    for (const Rank per_node : {2, 3, 5, 8, 16}) {
      for (Rank root = no_rank; root < ranks; root += 3) {
        expect_construction(all[static_cast<std::size_t>(ranks + root) % all.size()], root,
                            per_node);
      }
    }
  }
}

TEST(OrderedTree, LetsOneMessageLeaveANode) {
  const Rank per_node = 6;
  for (Rank ranks = 7; ranks <= 64; ++ranks) {
    const Sizes sizes = problems(ranks, 50, static_cast<std::uint32_t>(ranks))[1];
    for (const Rank root : {Rank{0}, ranks / 2, ranks - 1}) {
      const auto nodes = tree(sizes, root, per_node);
      expect_sound(nodes, sizes);
      std::vector<int> leaving(static_cast<std::size_t>(ranks / per_node + 1), 0);
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Rank parent = nodes[static_cast<std::size_t>(rank)].parent;
        if (parent == no_rank || parent / per_node == rank / per_node) continue;
        ASSERT_EQ(++leaving[static_cast<std::size_t>(rank / per_node)], 1) << ranks << " ranks";
      }
    }
  }
}

TEST(OrderedTree, OfEqualBlocksIsTheSameWithoutLookingAtSizes) {
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    const Sizes ones(static_cast<std::size_t>(ranks), 1);
    for (Rank root = 0; root < ranks; ++root) {
      const Rank per_node = root % 3 == 0 ? 1 + root % 7 : 1;
      for (Rank rank = 0; rank < ranks; ++rank) {
        expect_equal(ordered_node_of_equal_blocks(rank, ranks, root, per_node),
                     ordered_node(rank, ones, root, per_node));
      }
    }
  }
}

// Each other node hears from the root, at the rank from which the tree of its ranks starts.
TEST(OrderedStar, ReachesEveryNodeOnceAndEveryRankOfItsOwn) {
  std::mt19937_64 random(11);
  for (Rank ranks = 1; ranks <= 40; ++ranks) {
    Sizes sizes(static_cast<std::size_t>(ranks));
    for (std::uint64_t& size : sizes) size = random() % 3 == 0 ? 0 : random() % 50;
    for (Rank per_node = 1; per_node <= 9; ++per_node) {
      for (Rank root = 0; root < ranks; ++root) {
        const OrderedNode star = ordered_star(root, sizes, per_node);
        EXPECT_EQ(star.parent, no_rank);
        EXPECT_EQ(star.count, ranks);
        std::vector<int> reached(sizes.size(), 0);
        ++reached[static_cast<std::size_t>(root)];
        for (const OrderedChild& child : star.children) {
          const auto cube = std::span<const std::uint64_t>(sizes).subspan(
              static_cast<std::size_t>(child.first), static_cast<std::size_t>(child.count));
          for (Rank r = 0; r < child.count; ++r) {
            ++reached[static_cast<std::size_t>(child.first + r)];
          }
          EXPECT_EQ(child.total, std::accumulate(cube.begin(), cube.end(), std::uint64_t{0}));
          EXPECT_EQ(ordered_node(child.rank - child.first, cube, no_rank, per_node).parent,
                    no_rank);
          if (child.first / per_node != root / per_node) {
            EXPECT_EQ(child.first % per_node, 0);
            EXPECT_EQ(child.count, std::min(per_node, ranks - child.first));
          }
        }
        EXPECT_TRUE(std::ranges::all_of(reached, [](int times) { return times == 1; }))
            << ranks << " ranks, " << per_node << " per node, root " << root;
      }
    }
  }
}

// The setting of figure 2: 11 ranks, root 9; the sizes are ours.
TEST(OrderedTree, OnElevenRanksWithRootNineIsAsWorkedOutByHand) {
  const Sizes sizes{3, 1, 0, 0, 5, 2, 7, 1, 4, 2, 6};
  const auto nodes = tree(sizes, 9);
  // Pairs: (0,1) 0 wins as 1 sends less; (2,3) 2; (4,5) 4; (6,7) 6; (8,9) 9 is given; 10 alone.
  EXPECT_EQ(nodes[1].parent, 0);
  EXPECT_EQ(nodes[3].parent, 2);
  EXPECT_EQ(nodes[5].parent, 4);
  EXPECT_EQ(nodes[7].parent, 6);
  EXPECT_EQ(nodes[8].parent, 9);
  // Fours: 0 has gathered 1 unit, 2 none: 2 sends to 0. 4 gathered 2, 6 gathered 1: 6 sends to 4.
  EXPECT_EQ(nodes[2].parent, 0);
  EXPECT_EQ(nodes[6].parent, 4);
  EXPECT_EQ(nodes[10].parent, 9);
  // Eights: 0 has gathered 1, 4 has gathered 10: 0 sends to 4, and 4 to the root.
  EXPECT_EQ(nodes[0].parent, 4);
  EXPECT_EQ(nodes[4].parent, 9);
  EXPECT_EQ(nodes[9].total, 31U);
  EXPECT_EQ(nodes[4].first, 0);
  EXPECT_EQ(nodes[4].count, 8);
  EXPECT_EQ(nodes[4].total, 19U);
  EXPECT_EQ(nodes[4].round, 3U);
}

}  // namespace
}  // namespace sibyl
