// Binomial reduce: its tree for any root, its copies, and programs written by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "planners/ceil_log2.hpp"
#include "planners/program_text.hpp"
#include "schedule/verify.hpp"

namespace sibyl {
namespace {

Lines binomial_reduce(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::reduce, "binomial", request, rank));
}

TEST(ReduceBinomial, WhatComesFromAboveChangesThePlaceOfTheSum) {
  const PlanRequest request{.ranks = 4};
  EXPECT_EQ(binomial_reduce(request, 0),
            (Lines{"0: receive scratch[0] from 1", "0: scratch[0] := send[0] (+) scratch[0]",
                   "1: receive receive[0] from 2", "1: receive[0] := scratch[0] (+) receive[0]"}));
  EXPECT_EQ(binomial_reduce(request, 2),
            (Lines{"0: receive scratch[0] from 3", "0: scratch[0] := send[0] (+) scratch[0]",
                   "1: send scratch[0] to 0"}));
  EXPECT_EQ(binomial_reduce(request, 3), (Lines{"0: send send[0] to 2"}));
}

TEST(ReduceBinomial, WhatComesFromBelowIsPutOnTheLeft) {
  const PlanRequest request{.ranks = 3, .root = 2};
  EXPECT_EQ(binomial_reduce(request, 2),
            (Lines{"1: receive[0] := send[0]", "1: receive[0] := from 0 (+) receive[0]"}));
  PlanRequest in_place = request;
  in_place.in_place = true;
  EXPECT_EQ(binomial_reduce(in_place, 2), (Lines{"1: receive[0] := from 0 (+) receive[0]"}));
}

TEST(ReduceBinomial, EveryRootHasTheFewestRoundsAndOneMessageForEachOtherRank) {
  Verifier verifier;
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    for (Rank root = 0; root < ranks; ++root) {
      const Plan plan = make_plan(*find_algorithm(Collective::reduce, "binomial"),
                                  {.ranks = ranks, .root = root, .in_place = root % 2 == 0});
      const VerifyResult result = verifier.verify(plan);
      ASSERT_TRUE(result.ok) << ranks << " ranks, root " << root << ": " << result.problem;
      ASSERT_EQ(result.rounds, ceil_log2(static_cast<std::uint64_t>(ranks)));
      ASSERT_EQ(result.messages, static_cast<std::uint64_t>(ranks - 1));
    }
  }
}

// A copy of the whole vector is the price of an operand from below, or of one too many from above
// in place; nobody pays it twice, and the other ranks never.
TEST(ReduceBinomial, OnlyTheRootCopiesAndOnlyOnce) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    for (Rank root = 0; root < ranks; ++root) {
      for (const bool in_place : {false, true}) {
        for (Rank rank = 0; rank < ranks; ++rank) {
          const Program program =
              program_of(Collective::reduce, "binomial",
                         {.ranks = ranks, .root = root, .in_place = in_place}, rank);
          const auto copies = std::ranges::count(program.steps, StepKind::copy, &Step::kind);
          ASSERT_LE(copies, rank == root ? 1 : 0) << ranks << " ranks, root " << root;
          ASSERT_LE(program.scratch_units, rank == root ? 1U : 2U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sibyl
