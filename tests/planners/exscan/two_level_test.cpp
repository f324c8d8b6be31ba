// Two levels: proved on every node size, with its rounds and with what crosses nodes.
#include "planners/exscan/two_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"
#include "planners/program_text.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl::exscan {
namespace {

const Algorithm& two_level() { return *find_algorithm(Collective::exscan, "two-level"); }

std::uint32_t log2_up(Rank n) { return ceil_log2(static_cast<std::uint64_t>(n)); }

TEST(TwoLevel, IsProvedForEveryNodeSizeWithItsRounds) {
  Verifier verifier;
  for (Rank ranks = 1; ranks <= (sanitized ? 30 : 70); ++ranks) {
    for (Rank per_node = 1; per_node <= ranks + 1; ++per_node) {
      for (const bool in_place : {false, true}) {
        const PlanRequest request{.ranks = ranks, .in_place = in_place, .ranks_per_node = per_node};
        ASSERT_EQ(check_request(two_level(), request), "");
        const VerifyResult result = verifier.verify(make_plan(two_level(), request));
        ASSERT_TRUE(result.ok) << ranks << " ranks, " << per_node << " a node: " << result.problem;
        const TwoLevelRounds phases = two_level_rounds(request);
        EXPECT_EQ(result.rounds, phases.all());
        const Rank width = std::min(per_node, ranks);
        EXPECT_EQ(phases.within, rounds(width, 2));
        EXPECT_EQ(phases.between, rounds((ranks - 1) / width + 1, 2));
        EXPECT_LE(phases.broadcast, log2_up(width));
      }
    }
  }
}

TEST(TwoLevel, IsProvedOnLargeMachines) {
  Verifier verifier;
  for (const auto& [ranks, per_node] :
       {std::pair<Rank, Rank>{1152, 32}, {1152, 48}, {1131, 32}, {560, 16}, {2000, 7}}) {
    const Plan plan = make_plan(two_level(), {.ranks = ranks, .ranks_per_node = per_node});
    const VerifyResult result = verifier.verify(plan);
    EXPECT_TRUE(result.ok) << ranks << " ranks: " << result.problem;
    EXPECT_EQ(result.last_rank_operator_applications > 0, true);
  }
}

// What the algorithm is there for: in a round one vector at most leaves a node, and one enters it.
TEST(TwoLevel, OneVectorARoundLeavesANode) {
  constexpr Rank per_node = 12;
  const Plan plan = make_plan(two_level(), {.ranks = 187, .ranks_per_node = per_node});
  std::set<std::pair<std::uint32_t, Rank>> leaves;
  std::set<std::pair<std::uint32_t, Rank>> enters;
  for (Rank rank = 0; rank < 187; ++rank) {
    for (const Step& step : plan.programs[static_cast<std::size_t>(rank)].steps) {
      if (step.kind != StepKind::send || step.peer / per_node == rank / per_node) continue;
      EXPECT_TRUE(leaves.insert({step.round, rank / per_node}).second);
      EXPECT_TRUE(enters.insert({step.round, step.peer / per_node}).second);
    }
  }
  EXPECT_FALSE(leaves.empty());
}

TEST(TwoLevel, RankZeroOnlySendsAndReadsItsReceiveBufferInPlaceOnly) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    for (Rank per_node = 1; per_node <= ranks; ++per_node) {
      for (const bool in_place : {false, true}) {
        const Program program =
            program_of(Collective::exscan, "two-level",
                       {.ranks = ranks, .in_place = in_place, .ranks_per_node = per_node}, 0);
        for (const Step& step : program.steps) {
          EXPECT_EQ(step.kind, StepKind::send);
          EXPECT_EQ(step.slice.buffer, in_place ? Buffer::receive : Buffer::send);
        }
      }
    }
  }
}

TEST(TwoLevel, NoRankNeedsMoreThanFourSlotsOfScratch) {
  for (Rank ranks = 1; ranks <= 60; ++ranks) {
    for (Rank per_node = 1; per_node <= ranks; ++per_node) {
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Program program =
            program_of(Collective::exscan, "two-level",
                       {.ranks = ranks, .in_place = true, .ranks_per_node = per_node}, rank);
        EXPECT_LE(program.scratch_units, 4U);
      }
    }
  }
}

TEST(TwoLevel, NodesOfOneRankMakeIt123Doubling) {
  for (Rank ranks = 1; ranks <= 40; ++ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (const bool in_place : {false, true}) {
        const PlanRequest request{.ranks = ranks, .in_place = in_place};
        EXPECT_EQ(text_of(program_of(Collective::exscan, "two-level", request, rank)),
                  text_of(program_of(Collective::exscan, "123-doubling", request, rank)));
      }
    }
  }
}

TEST(TwoLevel, OnThreeNodesOfThreeItIsAsWrittenByHand) {
  const auto text = [](Rank rank) {
    return text_of(
        program_of(Collective::exscan, "two-level", {.ranks = 9, .ranks_per_node = 3}, rank));
  };
  EXPECT_EQ(text(0), (Lines{"0: send send[0] to 1", "1: send send[0] to 2"}));
  EXPECT_EQ(
      text(5),
      (Lines{"0: receive receive[0] from 4", "1: receive[0] := from 3 (+) receive[0]",
             "1: scratch[1] := send[0]", "1: scratch[1] := receive[0] (+) scratch[1]",
             "2: send scratch[1] to 8", "2: receive scratch[0] from 2", "4: send scratch[0] to 4",
             "5: send scratch[0] to 3", "5: receive[0] := scratch[0] (+) receive[0]"}));
  EXPECT_EQ(text(6), (Lines{"0: send send[0] to 7", "1: send send[0] to 8",
                            "5: receive receive[0] from 8"}));
}

}  // namespace
}  // namespace sibyl::exscan
