// Proves two-level plans for ranks that lie on nodes in any way, and looks at what leaves a node.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "planners/nodes.hpp"
#include "planners/prove.hpp"
#include "planners/two_level.hpp"

namespace sibyl {
namespace {

constexpr std::array served_on_two_levels{Collective::reduce, Collective::allreduce,
                                          Collective::bcast, Collective::allgather,
                                          Collective::allgatherv};

const Algorithm& two_level_of(Collective collective) {
  return *find_algorithm(collective, "two-level");
}

// How ranks may lie on nodes.
enum class Lie : std::uint8_t { consecutive, cyclic, anyhow };

std::vector<Rank> nodes_of(Rank ranks, Rank nodes, Lie lie, std::mt19937& random) {
  std::vector<Rank> node_of(static_cast<std::size_t>(ranks));
  const Rank per_node = (ranks + nodes - 1) / nodes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Rank& node = node_of[static_cast<std::size_t>(rank)];
    if (lie == Lie::consecutive) node = rank / per_node;
    if (lie == Lie::cyclic) node = rank % nodes;
    if (lie == Lie::anyhow) node = std::uniform_int_distribution<Rank>(0, nodes - 1)(random);
  }
  return node_of;
}

std::string placement_text(const PlanRequest& request) {
  std::string text = std::to_string(request.ranks) + " ranks, root " +
                     std::to_string(request.root) + ", " + std::to_string(request.segments) +
                     " segments, " + std::to_string(request.lanes) + " lanes, nodes";
  for (const Rank node : request.nodes) text += " " + std::to_string(node);
  return text;
}

class TwoLevelPlans : public testing::TestWithParam<Collective> {
 protected:
  void prove(const PlanRequest& request) {
    const VerifyResult result = verify_algorithm(two_level_of(GetParam()), request, storage_);
    EXPECT_TRUE(result.ok) << placement_text(request) << ": " << result.problem;
  }
  std::mt19937 random_{20261123};
  ProofStorage storage_;
};

TEST_P(TwoLevelPlans, AreRightWhereverRanksLie) {
  for (const Rank ranks : {1, 2, 3, 4, 5, 7, 9, 12, 16, 24}) {
    for (const Lie lie : {Lie::consecutive, Lie::cyclic, Lie::anyhow}) {
      for (const Rank nodes : {Rank{1}, Rank{2}, Rank{3}, (ranks + 3) / 4, ranks}) {
        if (nodes > ranks) continue;
        const std::vector<Rank> node_of = nodes_of(ranks, nodes, lie, random_);
        PlanRequest request{.ranks = ranks, .nodes = node_of};
        for (request.root = 0; request.root < (has_root(GetParam()) ? ranks : 1);
             request.root += 1 + ranks / 5) {
          for (const std::uint32_t lanes : {1U, 2U, 3U}) {
            if (lanes > static_cast<std::uint32_t>(ranks)) continue;
            request.lanes = lanes;
            request.segments = 1 + (lanes * 3 + static_cast<std::uint32_t>(nodes)) % 7;
            request.in_place = GetParam() != Collective::bcast && (ranks + request.root) % 2 == 0;
            prove(request);
          }
        }
      }
    }
  }
}

TEST_P(TwoLevelPlans, AreRightForAnyNodesAndArrivals) {
  for (int draw = 0; draw < 200; ++draw) {
    const Rank ranks = std::uniform_int_distribution<Rank>(2, 40)(random_);
    const Rank nodes = std::uniform_int_distribution<Rank>(1, ranks)(random_);
    const std::vector<Rank> node_of = nodes_of(ranks, nodes, Lie::anyhow, random_);
    std::vector<double> arrivals(node_of.size());
    for (double& arrival : arrivals) arrival = std::uniform_real_distribution<>(0, 20)(random_);
    if (!two_level_of(GetParam()).arrivals) arrivals.clear();
    prove({.ranks = ranks,
           .root = has_root(GetParam()) ? ranks / 2 : 0,
           .nodes = node_of,
           .lanes = 1 + static_cast<std::uint32_t>(draw % 2),
           .segments = 1 + static_cast<std::uint32_t>(draw % 11),
           .arrivals = arrivals,
           .round_time = 0.5});
  }
}

// What goes from one node to another.
struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t units = 0;
};
Sent sent_between(std::span<const Rank> node_of, const Plan& plan) {
  Sent sent;
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    for (const Step& step : plan.programs[rank].steps) {
      if (step.kind != StepKind::send) continue;
      if (node_of[static_cast<std::size_t>(step.peer)] != node_of[rank]) {
        ++sent.messages;
        sent.units += step.slice.range.count;
      }
    }
  }
  return sent;
}

// As much as between as many ranks of one node each, which is what the second level is for; where
// every rank has a block, in proportion.
TEST_P(TwoLevelPlans, SendNoMoreBetweenNodesThanNodesWould) {
  const std::vector<Rank> node_of{0, 1, 0, 2, 1, 1, 0, 2, 3, 0, 3, 2};
  const std::vector<Rank> apart{0, 1, 2, 3};
  const Algorithm& two_level = two_level_of(GetParam());
  const Plan plan = make_plan(two_level, {.ranks = 12, .nodes = node_of, .segments = 8});
  const Plan alone = make_plan(two_level, {.ranks = 4, .nodes = apart, .segments = 8});
  const std::uint64_t blocks = partition_of(GetParam()) == Partition::blocks ? 12 / 4 : 1;
  EXPECT_EQ(sent_between(node_of, plan).units, blocks * sent_between(apart, alone).units);
}

INSTANTIATE_TEST_SUITE_P(Of, TwoLevelPlans, testing::ValuesIn(served_on_two_levels),
                         [](const testing::TestParamInfo<Collective>& collective) {
                           return std::string(name_of(collective.param));
                         });

TEST(TwoLevelBarrier, IsRightWhereverRanksLieAndLeavesANodeOncePerRound) {
  std::mt19937 random(7);
  ProofStorage storage;
  const Algorithm& row = two_level_of(Collective::barrier);
  for (const Rank ranks : {1, 2, 3, 6, 13, 24}) {
    for (const Lie lie : {Lie::consecutive, Lie::cyclic, Lie::anyhow}) {
      for (const Rank nodes : {Rank{1}, Rank{2}, (ranks + 2) / 3, ranks}) {
        if (nodes > ranks) continue;
        const std::vector<Rank> node_of = nodes_of(ranks, nodes, lie, random);
        const PlanRequest request{.ranks = ranks, .nodes = node_of};
        const VerifyResult result = verify_algorithm(row, request, storage);
        EXPECT_TRUE(result.ok) << placement_text(request) << ": " << result.problem;
      }
    }
  }
  const std::vector<Rank> node_of{0, 1, 2, 0, 1, 2, 3, 3, 3};
  EXPECT_EQ(sent_between(node_of, make_plan(row, {.ranks = 9, .nodes = node_of})).messages,
            4U * 2U);
  EXPECT_NE(check_request(row, {.ranks = 9, .nodes = node_of, .lanes = 2}), "");
}

TEST(Nodes, AreNumberedInTheOrderOfTheirLowestRanks) {
  const std::vector<Rank> labels{4, 0, 4, 2, 0};
  const Nodes nodes(PlanRequest{.ranks = 5, .root = 2, .nodes = labels});
  EXPECT_EQ(nodes.count(), 3);
  EXPECT_EQ(nodes.node_of(3), 2);
  EXPECT_EQ(nodes.smallest(), 1);
  const std::span<const Rank> first = nodes.members(0);
  EXPECT_EQ(std::vector<Rank>(first.begin(), first.end()), (std::vector<Rank>{2, 0}));
}

TEST(Nodes, ThatCannotBeAreRefused) {
  const Algorithm& reduce = two_level_of(Collective::reduce);
  const std::vector<Rank> few{0, 0};
  const std::vector<Rank> wild{0, 7, 0};
  EXPECT_NE(check_request(reduce, {.ranks = 3, .nodes = few}), "");
  EXPECT_NE(check_request(reduce, {.ranks = 3, .nodes = wild}), "");
  EXPECT_NE(check_request(reduce, {.ranks = 3, .lanes = 4}), "");
  EXPECT_NE(check_request(reduce, {.ranks = 3, .lanes = 0}), "");
  const std::vector<Rank> fine{0, 1, 0};
  EXPECT_EQ(check_request(reduce, {.ranks = 3, .nodes = fine}), "");
  EXPECT_NE(check_request(reduce, {.ranks = 3, .ranks_per_node = 2, .nodes = fine}), "");
  const Algorithm& flat = *find_algorithm(Collective::reduce, "binomial");
  EXPECT_NE(check_request(flat, {.ranks = 3, .nodes = fine}), "");
  EXPECT_NE(check_request(flat, {.ranks = 3, .lanes = 2}), "");
}

}  // namespace
}  // namespace sibyl
