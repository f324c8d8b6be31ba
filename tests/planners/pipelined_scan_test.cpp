// Pipelined scans: the trees that they run along, and proofs of their plans with more segments than
// one (verified_test.cpp proves them with one).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "planners/ceil_log2.hpp"
#include "planners/scan_tree.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

constexpr ScanTree all_trees[] = {ScanTree::chain, ScanTree::even, ScanTree::odd};

std::vector<const Algorithm*> pipelined() {
  std::vector<const Algorithm*> rows;
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    for (const char* name : {"pipelined-chain", "two-tree"}) {
      rows.push_back(find_algorithm(collective, name));
    }
  }
  return rows;
}

// The ranks of a subtree in the order of the walk: left, itself, right.
void walk(ScanTree tree, Rank rank, Rank ranks, std::vector<Rank>& order, std::uint32_t depth) {
  ASSERT_LE(depth, static_cast<std::uint32_t>(ranks));
  const ScanTreeNode node = scan_tree_node(tree, rank, ranks);
  for (const Rank child : {node.left, node.right}) {
    if (child != no_rank) {
      EXPECT_EQ(scan_tree_node(tree, child, ranks).parent, rank);
    }
  }
  if (node.left != no_rank) walk(tree, node.left, ranks, order, depth + 1);
  order.push_back(rank);
  if (node.right != no_rank) walk(tree, node.right, ranks, order, depth + 1);
}

TEST(ScanTrees, HoldEveryRankOnceAndInOrder) {
  for (const ScanTree tree : all_trees) {
    for (Rank ranks = 1; ranks <= 130; ++ranks) {
      std::vector<Rank> roots;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (scan_tree_node(tree, rank, ranks).parent == no_rank) roots.push_back(rank);
      }
      ASSERT_EQ(roots.size(), 1U) << ranks << " ranks";
      std::vector<Rank> order;
      walk(tree, roots.front(), ranks, order, 0);
      ASSERT_EQ(order.size(), static_cast<std::size_t>(ranks));
      EXPECT_TRUE(std::ranges::is_sorted(order)) << ranks << " ranks";
    }
  }
}

TEST(ScanTrees, AnInnerRankOfTheOneIsALeafOfTheOther) {
  for (Rank ranks = 1; ranks <= 300; ++ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto is_leaf = [&](ScanTree tree) {
        const ScanTreeNode node = scan_tree_node(tree, rank, ranks);
        return node.left == no_rank && node.right == no_rank;
      };
      EXPECT_TRUE(is_leaf(ScanTree::even) || is_leaf(ScanTree::odd)) << rank << " of " << ranks;
    }
  }
}

TEST(ScanTrees, BothEndsOfAMessageNameTheSameRound) {
  for (const ScanTree tree : all_trees) {
    for (Rank ranks = 1; ranks <= 100; ++ranks) {
      for (Rank rank = 0; rank < ranks; ++rank) {
        const ScanTreeNode node = scan_tree_node(tree, rank, ranks);
        if (node.left != no_rank) {
          const ScanTreeNode left = scan_tree_node(tree, node.left, ranks);
          EXPECT_TRUE(left.sends_up);
          EXPECT_EQ(left.up, node.left_up);
          EXPECT_EQ(left.prefix_comes, node.prefix_comes);
          if (left.prefix_comes) {
            EXPECT_EQ(left.down, node.left_down);
          }
        }
        if (node.right != no_rank) {
          const ScanTreeNode right = scan_tree_node(tree, node.right, ranks);
          EXPECT_EQ(right.sends_up, node.right_sends);
          EXPECT_EQ(right.up, node.right_up);
          EXPECT_TRUE(right.prefix_comes);
          EXPECT_EQ(right.down, node.right_down);
        }
      }
    }
  }
}

TEST(PipelinedScans, AreProvedForEveryNumberOfRanksAndSegments) {
  Verifier verifier;
  const Rank most = std::getenv("SIBYL_TEST_LONG") != nullptr ? 300 : 48;
  for (const Algorithm* algorithm : pipelined()) {
    for (Rank ranks = 1; ranks <= most; ++ranks) {
      for (const std::uint32_t segments : {1U, 2U, 3U, 4U, 7U, 16U}) {
        for (const bool in_place : {false, true}) {
          const PlanRequest request{.ranks = ranks, .in_place = in_place, .segments = segments};
          ASSERT_EQ(check_request(*algorithm, request), "");
          const VerifyResult result = verifier.verify(make_plan(*algorithm, request));
          ASSERT_TRUE(result.ok) << algorithm->name << ", " << ranks << " ranks, " << segments
                                 << " segments: " << result.problem;
        }
      }
    }
  }
}

TEST(PipelinedScans, AreProvedWhereSomeRanksWorkInPlace) {
  Verifier verifier;
  for (const Algorithm* algorithm : pipelined()) {
    for (Rank ranks = 2; ranks <= 33; ++ranks) {
      Plan plan = make_plan(*algorithm, {.ranks = ranks, .segments = 5});
      for (Rank rank = ranks % 3; rank < ranks; rank += 2) {
        algorithm->plan({.ranks = ranks, .in_place = true, .segments = 5}, rank,
                        plan.programs[static_cast<std::size_t>(rank)]);
      }
      const VerifyResult result = verifier.verify(plan);
      ASSERT_TRUE(result.ok) << algorithm->name << ", " << ranks << " ranks: " << result.problem;
    }
  }
}

// Two messages in and two out per segment is what makes two trees worth their while.
TEST(PipelinedScans, NoRankOfTheTwoTreesHasMoreThanTwoMessagesASegment) {
  constexpr std::uint32_t segments = 10;
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    const Algorithm& algorithm = *find_algorithm(collective, "two-tree");
    for (const Rank ranks : {2, 5, 16, 37, 100}) {
      const Plan plan = make_plan(algorithm, {.ranks = ranks, .segments = segments});
      for (const Program& program : plan.programs) {
        const auto sends = std::ranges::count(program.steps, StepKind::send, &Step::kind);
        const auto peers = std::ranges::count_if(
            program.steps, [](const Step& step) { return step.peer != no_rank; });
        EXPECT_LE(sends, 2 * segments);
        EXPECT_LE(peers - sends, 2 * segments);
      }
    }
  }
}

TEST(PipelinedScans, MoreSegmentsThanAProgramCanHoldAreRefused) {
  for (const Algorithm* algorithm : pipelined()) {
    EXPECT_NE(check_request(*algorithm, {.ranks = 2, .segments = 0}), "");
    EXPECT_NE(check_request(*algorithm, {.ranks = 2, .segments = (1U << 20) + 1}), "");
  }
}

}  // namespace
}  // namespace sibyl
