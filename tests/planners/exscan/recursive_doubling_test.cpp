// Recursive doubling: its counts, what it may touch, and one plan written out by hand. That it is
// right is proved with the whole table in verified_test.cpp.
#include "planners/exscan/recursive_doubling.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "planners/ceil_log2.hpp"
#include "planners/program_text.hpp"
#include "schedule/verify.hpp"
#include "support/sanitized.hpp"

namespace sibyl::exscan {
namespace {

const Algorithm& recursive_doubling() {
  return *find_algorithm(Collective::exscan, "recursive-doubling");
}

TEST(RecursiveDoubling, RoundsAreTheFewestAndApplicationsWithinTheirBound) {
  Verifier verifier;
  for (Rank ranks = 1; ranks <= (sanitized ? 70 : 300); ++ranks) {
    for (const bool in_place : {false, true}) {
      const Plan plan = make_plan(recursive_doubling(), {.ranks = ranks, .in_place = in_place});
      const VerifyResult result = verifier.verify(plan);
      ASSERT_TRUE(result.ok) << ranks << " ranks: " << result.problem;
      EXPECT_EQ(result.rounds, ceil_log2(static_cast<std::uint64_t>(ranks)));
      EXPECT_LE(result.max_operator_applications, recursive_doubling_applications(ranks));
      // The last rank has no total to give away: an application for every part but the first.
      const auto parts = static_cast<std::uint32_t>(std::popcount(std::uint32_t(ranks - 1)));
      EXPECT_EQ(result.last_rank_operator_applications, parts == 0 ? 0 : parts - 1) << ranks;
    }
  }
}

TEST(RecursiveDoubling, TheBoundOnApplicationsIsReachedAtPowersOfTwo) {
  Verifier verifier;
  for (Rank ranks = 4; ranks <= 256; ranks *= 2) {
    const Plan plan = make_plan(recursive_doubling(), {.ranks = ranks});
    EXPECT_EQ(verifier.verify(plan).max_operator_applications,
              recursive_doubling_applications(ranks));
  }
}

// What the algorithm is there for.
TEST(RecursiveDoubling, ItsFirstRoundsStayWithinNodesOfConsecutiveRanks) {
  constexpr Rank per_node = 8;
  const Plan plan = make_plan(recursive_doubling(), {.ranks = 45});
  for (Rank rank = 0; rank < 45; ++rank) {
    for (const Step& step : plan.programs[static_cast<std::size_t>(rank)].steps) {
      if (step.peer != no_rank && step.round < 3) {
        EXPECT_EQ(step.peer / per_node, rank / per_node);
      }
    }
  }
}

TEST(RecursiveDoubling, RankZeroReadsItsReceiveBufferInPlaceAndNeverWritesIt) {
  Program program;
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    for (const bool in_place : {false, true}) {
      recursive_doubling().plan({.ranks = ranks, .in_place = in_place}, 0, program);
      for (const Step& step : program.steps) {
        const bool writes = step.kind != StepKind::send;
        EXPECT_FALSE(writes && step.slice.buffer != Buffer::scratch);
        EXPECT_FALSE(!in_place && step.slice.buffer == Buffer::receive);
      }
    }
  }
}

TEST(RecursiveDoubling, NoRankNeedsMoreThanTwoSlotsOfScratch) {
  Program program;
  for (Rank ranks = 1; ranks <= 130; ++ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (const bool in_place : {false, true}) {
        recursive_doubling().plan({.ranks = ranks, .in_place = in_place}, rank, program);
        EXPECT_LE(program.scratch_units, 2U);
      }
    }
  }
}

Lines text(Rank ranks, Rank rank) {
  return text_of(program_of(Collective::exscan, "recursive-doubling", {.ranks = ranks}, rank));
}

TEST(RecursiveDoubling, OnFiveRanksItIsAsWrittenByHand) {
  EXPECT_EQ(text(5, 0),
            (Lines{"0: send send[0] to 1", "0: receive scratch[0] from 1",
                   "0: scratch[0] := send[0] (+) scratch[0]", "1: send scratch[0] to 2",
                   "1: receive scratch[1] from 2", "1: scratch[1] := scratch[0] (+) scratch[1]",
                   "2: send scratch[1] to 4"}));
  EXPECT_EQ(text(5, 3),
            (Lines{"0: send send[0] to 2", "0: receive scratch[0] from 2",
                   "0: scratch[1] := send[0]", "0: scratch[1] := scratch[0] (+) scratch[1]",
                   "0: receive[0] := scratch[0]", "1: send scratch[1] to 1",
                   "1: receive scratch[0] from 1", "1: scratch[1] := scratch[0] (+) scratch[1]",
                   "1: receive[0] := scratch[0] (+) receive[0]"}));
  EXPECT_EQ(text(5, 4), Lines{"2: receive receive[0] from 0"});
}

}  // namespace
}  // namespace sibyl::exscan
