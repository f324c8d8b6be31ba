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

constexpr std::array served_on_two_levels{
    Collective::reduce,         Collective::allreduce,           Collective::bcast,
    Collective::allgather,      Collective::allgatherv,          Collective::alltoall,
    Collective::reduce_scatter, Collective::reduce_scatter_block};

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
  // With as many lanes and segments as the row takes.
  void prove(PlanRequest request) {
    const Algorithm& row = two_level_of(GetParam());
    if (!row.lanes) request.lanes = 1;
    if (!row.segments) request.segments = 1;
    const VerifyResult result = verify_algorithm(row, request, storage_);
    EXPECT_TRUE(result.ok) << placement_text(request) << ": " << result.problem;
    const PlanHeader header = row.describe(request);
    EXPECT_EQ(result.rounds, header.rounds) << placement_text(request);
    EXPECT_LE(result.tags_used, header.tag_span) << placement_text(request);
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
  const std::uint32_t segments = two_level.segments ? 8 : 1;
  const Plan plan = make_plan(two_level, {.ranks = 12, .nodes = node_of, .segments = segments});
  const Plan alone = make_plan(two_level, {.ranks = 4, .nodes = apart, .segments = segments});
  if (exchanges_all(GetParam())) {  // a block from each rank to each; nodes of 4, 3, 3 and 2
    EXPECT_EQ(sent_between(node_of, plan).units, 12U * 12 - 16 - 9 - 9 - 4);
    return;
  }
  const std::uint64_t blocks = partition_of(GetParam()) == Partition::blocks ? 12 / 4 : 1;
  EXPECT_EQ(sent_between(node_of, plan).units, blocks * sent_between(apart, alone).units);
}

INSTANTIATE_TEST_SUITE_P(Of, TwoLevelPlans, testing::ValuesIn(served_on_two_levels),
                         [](const testing::TestParamInfo<Collective>& collective) {
                           return std::string(name_of(collective.param));
                         });

std::uint64_t sent_by(Rank rank, std::span<const Rank> node_of, const Plan& plan) {
  const std::vector<Step>& steps = plan.programs[static_cast<std::size_t>(rank)].steps;
  return static_cast<std::uint64_t>(std::ranges::count_if(steps, [&](const Step& step) {
    return step.kind == StepKind::send &&
           node_of[static_cast<std::size_t>(step.peer)] != node_of[static_cast<std::size_t>(rank)];
  }));
}

// Of which the ranks of a node send as many as each other, or one more.
TEST(TwoLevelAlltoall, SendsOneMessageFromEachNodeToEachOther) {
  std::mt19937 random(11);
  for (const Lie lie : {Lie::consecutive, Lie::cyclic, Lie::anyhow}) {
    for (const Rank ranks : {2, 7, 12, 24, 40}) {
      for (const Rank count : {Rank{2}, (ranks + 2) / 3, (ranks + 1) / 2}) {
        const std::vector<Rank> node_of = nodes_of(ranks, count, lie, random);
        const PlanRequest request{.ranks = ranks, .nodes = node_of};
        const Plan plan = make_plan(two_level_of(Collective::alltoall), request);
        const Nodes nodes(request);
        const auto others = static_cast<std::uint64_t>(nodes.count()) - 1;
        EXPECT_EQ(sent_between(node_of, plan).messages, (others + 1) * others);
        for (Rank rank = 0; rank < ranks; ++rank) {
          const std::uint64_t size = nodes.members(nodes.node_of(rank)).size();
          const std::uint64_t sent = sent_by(rank, node_of, plan);
          EXPECT_GE(sent, others / size) << placement_text(request) << ", rank " << rank;
          EXPECT_LE(sent, (others + size - 1) / size)
              << placement_text(request) << ", rank " << rank;
        }
      }
    }
  }
}

// And no rank of a node more than another between nodes, or takes in more within it.
TEST(TwoLevelReduceScatter, SharesANodesWorkAmongItsRanks) {
  const std::vector<Rank> cyclic{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
  const Plan plan = make_plan(two_level_of(Collective::reduce_scatter_block),
                              {.ranks = 12, .nodes = cyclic, .segments = 2});
  for (Rank rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(sent_by(rank, cyclic, plan), 2U * 2U) << rank;
    std::uint64_t combined = 0;
    for (const Step& step : plan.programs[static_cast<std::size_t>(rank)].steps) {
      const bool combines =
          step.kind == StepKind::combine || step.kind == StepKind::receive_combine;
      if (combines) combined += step.slice.range.count;
    }
    EXPECT_EQ(combined, (3U * 3U + 2U) * 2U)
        << rank;  // three blocks of its node's, two from before
  }
}

// One rank on a node of its own leads all lanes, and its neighbours one each.
TEST(TwoLevelReduceScatter, TakesNoMoreTagsForOneSmallNode) {
  std::vector<Rank> node_of(33, 2);
  std::fill_n(node_of.begin(), 16, 0);
  node_of[16] = 1;
  const Algorithm& row = two_level_of(Collective::reduce_scatter);
  const PlanRequest request{.ranks = 33, .nodes = node_of, .segments = 5};
  EXPECT_EQ(row.describe(request).tag_span, 3U * 5U);
  ProofStorage storage;
  EXPECT_EQ(verify_algorithm(row, request, storage).problem, "");
}

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
