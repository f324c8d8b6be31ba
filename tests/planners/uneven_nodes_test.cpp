// Plans for nodes of different numbers of consecutive ranks: proved in the order of the operands,
// and with one vector that leaves a node in a round.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planners/nodes.hpp"
#include "planners/prove.hpp"

namespace sibyl {
namespace {

std::vector<const Algorithm*> uneven_rows() {
  std::vector<const Algorithm*> found;
  for (const Algorithm& row : algorithms()) {
    if (row.uneven_nodes) found.push_back(&row);
  }
  return found;
}

// Nodes of 1 to `most` consecutive ranks.
std::vector<Rank> random_runs(Rank ranks, Rank most, std::mt19937& random) {
  std::vector<Rank> nodes;
  for (Rank node = 0; static_cast<Rank>(nodes.size()) < ranks; ++node) {
    const Rank size = std::uniform_int_distribution<Rank>(1, most)(random);
    for (Rank i = 0; i < size && static_cast<Rank>(nodes.size()) < ranks; ++i) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

std::string text_of_uneven(const Algorithm& row, const std::vector<Rank>& nodes) {
  std::string text = std::string(name_of(row.collective)) + " " + std::string(row.name) + ", nodes";
  for (const Rank node : nodes) text += " " + std::to_string(node);
  return text;
}

TEST(UnevenNodes, AreForTheScansAndTheOrderedReduce) {
  ASSERT_EQ(uneven_rows().size(), 3U);
  for (const Algorithm* row : uneven_rows()) {
    EXPECT_TRUE(row->describe({.ranks = 5}).keeps_order) << row->name;
    EXPECT_FALSE(row->commutative_only);
  }
}

TEST(UnevenNodes, PlansAreProvedWhateverTheirSizes) {
  std::mt19937 random(20261124);
  ProofStorage storage;
  for (const Algorithm* row : uneven_rows()) {
    for (Rank ranks = 1; ranks <= 320; ranks += ranks < 40 ? 1 : 35) {
      for (const Rank most : {2, 5, 17}) {
        const std::vector<Rank> nodes = random_runs(ranks, most, random);
        PlanRequest request{.ranks = ranks, .nodes = nodes};
        if (has_root(row->collective)) request.root = static_cast<Rank>(random()) & 0x7fff;
        request.root %= ranks;
        for (const bool in_place : {false, true}) {
          request.in_place = in_place;
          ASSERT_EQ(check_request(*row, request), "") << text_of_uneven(*row, nodes);
          const VerifyResult result = verify_algorithm(*row, request, storage);
          ASSERT_TRUE(result.ok) << text_of_uneven(*row, nodes) << ", root " << request.root << ": "
                                 << result.problem;
        }
      }
    }
  }
}

TEST(UnevenNodes, OneVectorLeavesANodeAndOneEntersItInARound) {
  std::mt19937 random(7);
  for (const Algorithm* row : uneven_rows()) {
    for (const Rank ranks : {8, 33, 100}) {
      const std::vector<Rank> nodes = random_runs(ranks, 9, random);
      const Plan plan = make_plan(*row, {.ranks = ranks, .nodes = nodes});
      std::set<std::pair<std::uint32_t, Rank>> leaves;
      std::set<std::pair<std::uint32_t, Rank>> enters;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Rank own = nodes[static_cast<std::size_t>(rank)];
        for (const Step& step : plan.programs[static_cast<std::size_t>(rank)].steps) {
          if (step.kind != StepKind::send) continue;
          const Rank other = nodes[static_cast<std::size_t>(step.peer)];
          if (other == own) continue;
          EXPECT_TRUE(leaves.insert({step.round, own}).second) << text_of_uneven(*row, nodes);
          EXPECT_TRUE(enters.insert({step.round, other}).second) << text_of_uneven(*row, nodes);
        }
      }
      EXPECT_FALSE(leaves.empty());
    }
  }
}

TEST(UnevenNodes, EqualOnesGiveThePlansOfRanksPerNode) {
  const std::vector<Rank> nodes{0, 0, 0, 1, 1, 1, 2, 2};
  for (const Algorithm* row : uneven_rows()) {
    const Plan named = make_plan(*row, {.ranks = 8, .nodes = nodes});
    const Plan told = make_plan(*row, {.ranks = 8, .ranks_per_node = 3});
    for (std::size_t rank = 0; rank < 8; ++rank) {
      const auto& one = named.programs[rank].steps;
      const auto& other = told.programs[rank].steps;
      ASSERT_EQ(one.size(), other.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].peer, other[i].peer);
        EXPECT_EQ(one[i].round, other[i].round);
        EXPECT_EQ(one[i].slice.range, other[i].slice.range);
      }
    }
  }
}

TEST(UnevenNodes, AnyOtherPlacementIsRefusedAndCountsAsOneRankANode) {
  const std::vector<Rank> cyclic{0, 1, 0, 1};
  const std::vector<Rank> backwards{1, 1, 0, 0};
  const std::vector<Rank> even{0, 0, 0, 1};
  EXPECT_EQ(largest_run(even), 3);
  for (const auto& nodes : {cyclic, backwards}) {
    EXPECT_EQ(largest_run(nodes), 0);
    for (const Algorithm* row : uneven_rows()) {
      EXPECT_NE(check_request(*row, {.ranks = 4, .nodes = nodes}), "");
      const Placement placement{.nodes = nodes, .count = 2};
      PlanRequest request{.ranks = 4};
      place(*row, placement, request);
      EXPECT_TRUE(request.nodes.empty());
      EXPECT_EQ(request.ranks_per_node, 1);
    }
  }
}

}  // namespace
}  // namespace sibyl
