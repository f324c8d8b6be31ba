// The binomial scatter on both trees: programs written out by hand.
#include <gtest/gtest.h>

#include <array>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines binomial_scatter(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::scatter, "binomial", request, rank));
}

TEST(ScatterBinomial, WithoutAnOrderSubtreesAreRangesThatWrapAtTheRoot) {
  // Places 0 ... 4 are ranks 2 3 4 0 1; the tree is 0 -> 4, 2, 1; 2 -> 3.
  const PlanRequest request{.ranks = 5, .root = 2};
  EXPECT_EQ(binomial_scatter(request, 2),
            (Lines{"0: send send[1] to 1", "1: send send[4,0] to 4", "2: send send[3] to 3",
                   "2: receive[2] := send[2]"}));
  EXPECT_EQ(binomial_scatter(request, 1), Lines{"0: receive receive[1] from 2"});
  EXPECT_EQ(binomial_scatter(request, 4),
            (Lines{"1: receive scratch[0-1] from 2", "2: send scratch[1] to 0",
                   "2: receive[4] := scratch[0]"}));
  EXPECT_EQ(binomial_scatter(request, 0), Lines{"2: receive receive[0] from 4"});
}

TEST(ScatterBinomial, WithAnOrderTheFirstPlacesReceiveFirst) {
  // Places 0 ... 5 are ranks 1 5 0 3 2 4; the tree is 0 -> 1, 2, 4; 1 -> 3, 5.
  const std::array<Rank, 6> order{5, 0, 1, 3, 2, 4};
  const PlanRequest request{.ranks = 6, .root = 1, .order = order};
  EXPECT_EQ(binomial_scatter(request, 1),
            (Lines{"0: send send[5,3-4] to 5", "1: send send[0] to 0", "2: send send[2] to 2",
                   "2: receive[1] := send[1]"}));
  EXPECT_EQ(binomial_scatter(request, 5),
            (Lines{"0: receive scratch[0-2] from 1", "1: send scratch[1] to 3",
                   "2: send scratch[2] to 4", "2: receive[5] := scratch[0]"}));
  EXPECT_EQ(binomial_scatter(request, 4), Lines{"2: receive receive[4] from 5"});
}

TEST(ScatterBinomial, BackgroundOpensAllThatRanksOtherThanTheRootDo) {
  const PlanRequest request{.ranks = 4, .background = true};
  EXPECT_EQ(binomial_scatter(request, 0),
            (Lines{"0: send send[2-3] to 2", "1: send send[1] to 1", "1: receive[0] := send[0]"}));
  EXPECT_EQ(binomial_scatter(request, 2),
            (Lines{"0: receive scratch[0-1] from 0 on_start", "1: send scratch[1] to 3 on_start",
                   "1: receive[2] := scratch[0] on_start"}));
  EXPECT_EQ(binomial_scatter(request, 3), Lines{"1: receive receive[3] from 2 on_start"});
}

TEST(ScatterBinomial, InPlaceHoldsForTheRootAloneAndDropsTheCopy) {
  const PlanRequest request{.ranks = 3, .in_place = true};
  EXPECT_EQ(binomial_scatter(request, 0), (Lines{"0: send send[2] to 2", "1: send send[1] to 1"}));
  EXPECT_FALSE(program_of(Collective::scatter, "binomial", request, 1).in_place);
  EXPECT_EQ(binomial_scatter({.ranks = 1}, 0), Lines{"0: receive[0] := send[0]"});
}

}  // namespace
}  // namespace sibyl
