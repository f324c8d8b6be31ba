// Two-level gather and scatter on nodes of any size: proved for all roots, with and without orders;
// how many messages the root has, and in which order it serves the nodes.
#include "planners/node_parties.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "planners/program_text.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

const Algorithm& two_level(Collective collective) {
  return *find_algorithm(collective, "two-level");
}

std::vector<Rank> shuffled(Rank ranks, std::mt19937& random) {
  std::vector<Rank> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  return order;
}

class TwoLevelBlocks : public testing::TestWithParam<Collective> {};
INSTANTIATE_TEST_SUITE_P(BothWays, TwoLevelBlocks,
                         testing::Values(Collective::gather, Collective::scatter),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(TwoLevelBlocks, IsProvedForNodesOfAnySizeAndEveryRoot) {
  std::mt19937 random(4);
  Verifier verifier;
  for (Rank ranks = 1; ranks <= (sanitized ? 14 : 25); ++ranks) {
    for (Rank per_node = 2; per_node <= ranks + 1; ++per_node) {
      for (Rank root = 0; root < ranks; ++root) {
        for (const bool ordered : {false, true}) {
          const std::vector<Rank> order = ordered ? shuffled(ranks, random) : std::vector<Rank>();
          const PlanRequest request{.ranks = ranks,
                                    .root = root,
                                    .order = order,
                                    .background = ordered,
                                    .ranks_per_node = per_node};
          const VerifyResult result = verifier.verify(make_plan(two_level(GetParam()), request));
          ASSERT_TRUE(result.ok) << ranks << " ranks, " << per_node << " a node, root " << root
                                 << (ordered ? ", ordered: " : ": ") << result.problem;
          ASSERT_EQ(result.rounds, two_level(GetParam()).describe(request).rounds);
        }
      }
    }
  }
}

TEST_P(TwoLevelBlocks, IsProvedWhereverRanksLie) {
  std::mt19937 random(6);
  Verifier verifier;
  for (int draw = 0; draw < 200; ++draw) {
    const auto drawn = [&](Rank from, Rank to) {
      return std::uniform_int_distribution<Rank>(from, to)(random);
    };
    const Rank ranks = drawn(1, 30);
    const Rank nodes = drawn(1, ranks);
    std::vector<Rank> node_of(static_cast<std::size_t>(ranks));
    for (Rank& node : node_of) node = drawn(0, nodes - 1);
    const std::vector<Rank> order = draw % 2 == 0 ? shuffled(ranks, random) : std::vector<Rank>();
    const PlanRequest request{.ranks = ranks,
                              .root = drawn(0, ranks - 1),
                              .order = order,
                              .background = draw % 3 == 0,
                              .in_place = draw % 5 == 0,
                              .nodes = node_of};
    ASSERT_EQ(check_request(two_level(GetParam()), request), "");
    const VerifyResult result = verifier.verify(make_plan(two_level(GetParam()), request));
    ASSERT_TRUE(result.ok) << ranks << " ranks, root " << request.root << ", draw " << draw << ": "
                           << result.problem;
  }
}

TEST_P(TwoLevelBlocks, OnlyTheRootNeedsTheOrder) {
  std::mt19937 random(5);
  for (const Rank per_node : {2, 5, 8}) {
    PlanRequest request{.ranks = 22, .root = 6, .ranks_per_node = per_node};
    const Plan without = make_plan(two_level(GetParam()), request);
    const std::vector<Rank> order = shuffled(22, random);
    request.order = order;
    const Plan with = make_plan(two_level(GetParam()), request);
    for (std::size_t rank = 0; rank < 22; ++rank) {
      if (rank == 6) continue;
      EXPECT_EQ(text_of(without_rounds(without.programs[rank])),
                text_of(without_rounds(with.programs[rank])))
          << rank;
    }
  }
}

TEST_P(TwoLevelBlocks, TheRootHasOneMessageANodeAndOneARankOfItsOwn) {
  // 3 whole nodes and one of two ranks.
  const Plan plan =
      make_plan(two_level(GetParam()), {.ranks = 26, .root = 11, .ranks_per_node = 8});
  const auto messages = std::ranges::count_if(
      plan.programs[11].steps, [](const Step& step) { return step.peer != no_rank; });
  EXPECT_EQ(messages, 7 + 3);
}

TEST(NodeParties, AreServedWhenAllOrTheirLeadersAreExpected) {
  const std::vector<Rank> order{4, 3, 0, 1, 7, 6, 5, 2, 8};
  const PlanRequest request{.ranks = 9, .root = 7, .order = order, .ranks_per_node = 3};
  const auto leaders = [&](bool all) {
    std::vector<Rank> list;
    for (const Party& party : parties_of(request, all)) list.push_back(party.leader());
    return list;
  };
  EXPECT_EQ(leaders(true), (std::vector<Rank>{6, 3, 0, 8}));
  EXPECT_EQ(leaders(false), (std::vector<Rank>{3, 0, 6, 8}));
}

TEST(NodeParties, HoldTheBlocksOfRanksThatLieApart) {
  const std::vector<Rank> node_of{0, 1, 0, 1, 1};
  const Plan plan = make_plan(two_level(Collective::gather), {.ranks = 5, .nodes = node_of});
  const Program& root = plan.programs[0];
  const auto message = std::ranges::find(root.steps, Rank{1}, &Step::peer);
  ASSERT_NE(message, root.steps.end());
  const std::span<const Range> blocks = root.ranges_of(message->slice);
  EXPECT_EQ(std::vector<Range>(blocks.begin(), blocks.end()), (std::vector<Range>{{1, 1}, {3, 2}}));
}

}  // namespace
}  // namespace sibyl
