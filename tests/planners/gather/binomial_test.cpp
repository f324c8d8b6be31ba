// The binomial gather on both trees: programs written out by hand.
#include <gtest/gtest.h>

#include <array>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines binomial_gather(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::gather, "binomial", request, rank));
}

TEST(GatherBinomial, WithoutAnOrderSubtreesAreRangesThatWrapAtTheRoot) {
  // Places 0 1 2 3 4 5 are ranks 4 5 0 1 2 3; the tree is 0 <- 1, 2, 4; 2 <- 3; 4 <- 5.
  const PlanRequest request{.ranks = 6, .root = 4};
  EXPECT_EQ(binomial_gather(request, 4),
            (Lines{"0: receive receive[5] from 5", "1: receive receive[0-1] from 0",
                   "2: receive receive[2-3] from 2", "2: receive[4] := send[4]"}));
  EXPECT_EQ(binomial_gather(request, 5), Lines{"0: send send[5] to 4"});
  EXPECT_EQ(binomial_gather(request, 0),
            (Lines{"0: receive scratch[1] from 1", "1: scratch[0] := send[0]",
                   "1: send scratch[0-1] to 4"}));
  EXPECT_EQ(binomial_gather(request, 1), Lines{"0: send send[1] to 0"});
  EXPECT_EQ(binomial_gather(request, 2),
            (Lines{"0: receive scratch[1] from 3", "2: scratch[0] := send[2]",
                   "2: send scratch[0-1] to 4"}));
}

TEST(GatherBinomial, ASubtreeThatWrapsIsTwoRangesAtTheRoot) {
  // Places 0 ... 4 are ranks 2 3 4 0 1; the subtree of place 2 is ranks 4 and 0.
  EXPECT_EQ(binomial_gather({.ranks = 5, .root = 2}, 2),
            (Lines{"0: receive receive[3] from 3", "1: receive receive[4,0] from 4",
                   "2: receive receive[1] from 1", "2: receive[2] := send[2]"}));
}

TEST(GatherBinomial, WithAnOrderTheLastPlacesSendFirstAndTheFirstSitNextToTheRoot) {
  // Places 0 ... 5 are ranks 1 5 0 3 2 4; the tree is 0 <- 1, 2, 4; 1 <- 3, 5.
  const std::array<Rank, 5> order{5, 0, 3, 2, 4};
  const PlanRequest request{.ranks = 6, .root = 1, .order = order};
  EXPECT_EQ(binomial_gather(request, 1),
            (Lines{"0: receive receive[2] from 2", "1: receive receive[0] from 0",
                   "2: receive receive[5,3-4] from 5", "2: receive[1] := send[1]"}));
  EXPECT_EQ(binomial_gather(request, 5),
            (Lines{"0: receive scratch[2] from 4", "1: receive scratch[1] from 3",
                   "2: scratch[0] := send[5]", "2: send scratch[0-2] to 1"}));
  EXPECT_EQ(binomial_gather(request, 4), Lines{"0: send send[4] to 5"});
  EXPECT_EQ(binomial_gather(request, 3), Lines{"1: send send[3] to 5"});
}

TEST(GatherBinomial, TheIdentityAsAnOrderMeansTheArrivalTree) {
  // Subtree of place 1 among 8: 1, 3, 7, 5 in message order.
  const std::array<Rank, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(binomial_gather({.ranks = 8, .order = order}, 0),
            (Lines{"0: receive receive[4] from 4", "1: receive receive[2,6] from 2",
                   "2: receive receive[1,3,7,5] from 1", "2: receive[0] := send[0]"}));
  EXPECT_EQ(binomial_gather({.ranks = 8}, 0),
            (Lines{"0: receive receive[1] from 1", "1: receive receive[2-3] from 2",
                   "2: receive receive[4-7] from 4", "2: receive[0] := send[0]"}));
}

TEST(GatherBinomial, BackgroundOpensTheReceivesOfInnerRanksAndNothingElse) {
  const PlanRequest request{.ranks = 4, .background = true};
  EXPECT_EQ(binomial_gather(request, 0),
            (Lines{"0: receive receive[1] from 1 on_start",
                   "1: receive receive[2-3] from 2 on_start", "1: receive[0] := send[0]"}));
  EXPECT_EQ(binomial_gather(request, 2),
            (Lines{"0: receive scratch[1] from 3 on_start", "1: scratch[0] := send[2]",
                   "1: send scratch[0-1] to 0"}));
  EXPECT_EQ(binomial_gather(request, 3), Lines{"0: send send[3] to 2"});
}

TEST(GatherBinomial, InPlaceHoldsForTheRootAloneAndDropsTheCopy) {
  const PlanRequest request{.ranks = 3, .in_place = true};
  EXPECT_EQ(binomial_gather(request, 0),
            (Lines{"0: receive receive[1] from 1", "1: receive receive[2] from 2"}));
  EXPECT_FALSE(program_of(Collective::gather, "binomial", request, 1).in_place);
  EXPECT_EQ(binomial_gather({.ranks = 1}, 0), Lines{"0: receive[0] := send[0]"});
  EXPECT_EQ(binomial_gather({.ranks = 1, .in_place = true}, 0), Lines{});
}

}  // namespace
}  // namespace sibyl
