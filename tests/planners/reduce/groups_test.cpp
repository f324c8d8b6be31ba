// Rabenseifner's reduce and Radix-K: what is sent, in how many rounds, and in which order operands
// come together.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "planners/program_text.hpp"
#include "schedule/verify.hpp"

namespace sibyl {
namespace {

const Algorithm& row(std::string_view name) { return *find_algorithm(Collective::reduce, name); }

TEST(ReduceRabenseifner, HalvesAreExchangedAndTheRootsGathered) {
  const PlanRequest request{.ranks = 4};
  EXPECT_EQ(text_of(program_of(Collective::reduce, "rabenseifner", request, 1)),
            (Lines{"0: send send[0-1] to 0", "0: scratch[2-3] := send[2-3]",
                   "0: scratch[2-3] := from 0 (+) scratch[2-3]", "1: send scratch[3] to 3",
                   "1: receive scratch[6] from 3", "1: scratch[6] := scratch[2] (+) scratch[6]",
                   "2: receive scratch[7] from 3", "3: send scratch[6-7] to 0"}));
}

TEST(ReduceRabenseifner, ATooManyRankGivesItsVectorUp) {
  const PlanRequest request{.ranks = 3, .root = 1, .in_place = true};
  EXPECT_EQ(text_of(program_of(Collective::reduce, "rabenseifner", request, 0)),
            (Lines{"0: send send[0-1] to 1"}));
  EXPECT_EQ(text_of(program_of(Collective::reduce, "rabenseifner", request, 1)),
            (Lines{"0: receive[0-1] := from 0 (+) receive[0-1]", "1: send receive[1] to 2",
                   "1: receive scratch[0] from 2", "1: scratch[0] := receive[0] (+) scratch[0]",
                   "2: receive[0] := scratch[0]", "2: receive receive[1] from 2"}));
}

TEST(ReduceRabenseifner, SendsLessThanTwoVectorsARankAndOneMoreForEachTooMany) {
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    const VerifyResult result =
        verify(make_plan(row("rabenseifner"), {.ranks = ranks, .root = ranks / 2}));
    ASSERT_TRUE(result.ok) << result.problem;
    const auto all = static_cast<std::uint64_t>(ranks);
    const std::uint64_t members = std::bit_floor(all);
    const auto digits = static_cast<std::uint64_t>(std::bit_width(members) - 1);
    const std::uint64_t folded = all - members;
    EXPECT_EQ(result.rounds, 2 * digits + (folded > 0 ? 1 : 0));
    // Scatter: all but one part of every member. Gather: digits times half of the parts, since the
    // sum of a share is sent at every level of the tree.
    EXPECT_EQ(result.units_sent, members * (members - 1) + digits * members / 2 + folded * members)
        << ranks << " ranks";
  }
}

TEST(ReduceRadixK, GroupsAreThePredefinedSizesThatDivideTheRanks) {
  const auto rounds = [](Rank ranks) { return row("radix-k").describe({.ranks = ranks}).rounds; };
  EXPECT_EQ(rounds(1), 0U);
  EXPECT_EQ(rounds(8), 2U * 7);
  EXPECT_EQ(rounds(16), 2U * (7 + 1));
  EXPECT_EQ(rounds(48), 2U * (7 + 5));
  EXPECT_EQ(rounds(77), 2U * (6 + 10));
  EXPECT_EQ(rounds(169), 2U * (12 + 12));
  EXPECT_EQ(rounds(2 * 31 * 31), 2U * (1 + 30 + 30));
}

TEST(ReduceRadixK, OperandsFromAboveAreAddedUpApart) {
  const PlanRequest request{.ranks = 3};
  EXPECT_EQ(
      text_of(program_of(Collective::reduce, "radix-k", request, 0)),
      (Lines{"0: send send[1] to 1", "0: receive receive[0] from 2", "1: send send[2] to 2",
             "1: receive[0] := from 1 (+) receive[0]", "1: receive[0] := send[0] (+) receive[0]",
             "2: receive receive[1] from 1", "3: receive receive[2] from 2"}));
}

// What the promise of order rests on: that the verifier refuses another order.
TEST(ReduceGroups, SharesInAnotherOrderAreRefused) {
  for (const std::string_view name : {"rabenseifner", "radix-k"}) {
    Plan plan = make_plan(row(name), {.ranks = 2});
    ASSERT_TRUE(plan.header.keeps_order);
    // The first that is received from above and combined from the left, the other way round.
    auto& steps = plan.programs[0].steps;
    const auto received = std::ranges::find(steps, StepKind::receive, &Step::kind);
    const auto combined = received + 1;
    ASSERT_EQ(combined->kind, StepKind::combine) << name;
    std::swap(*received, *combined);
    received->kind = StepKind::copy;
    combined->kind = StepKind::receive_combine;
    const VerifyResult result = verify(plan);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.problem.find("breaks the order of operands"), std::string::npos)
        << name << ": " << result.problem;
  }
}

}  // namespace
}  // namespace sibyl
