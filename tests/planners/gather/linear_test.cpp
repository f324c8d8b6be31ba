// The linear gather: programs written out by hand.
#include <gtest/gtest.h>

#include <array>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines linear_gather(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::gather, "linear", request, rank));
}

TEST(GatherLinear, RootReceivesInRankOrderOneAtATime) {
  const PlanRequest request{.ranks = 4, .root = 1};
  EXPECT_EQ(linear_gather(request, 1),
            (Lines{"0: receive receive[0] from 0", "1: receive receive[2] from 2",
                   "2: receive receive[3] from 3", "2: receive[1] := send[1]"}));
  EXPECT_EQ(linear_gather(request, 3), Lines{"2: send send[3] to 1"});
  const PlanHeader header = find_algorithm(Collective::gather, "linear")->describe(request);
  EXPECT_EQ(header.window.receives, 1U);
  EXPECT_EQ(header.window.sends, 0U);
  EXPECT_EQ(header.root, 1);
}

TEST(GatherLinear, RootReceivesInTheOrderGivenWithOrWithoutTheRootInIt) {
  const std::array<Rank, 4> all{3, 1, 0, 2};
  const std::array<Rank, 3> others{3, 0, 2};
  const Lines expected{"0: receive receive[3] from 3", "1: receive receive[0] from 0",
                       "2: receive receive[2] from 2", "2: receive[1] := send[1]"};
  EXPECT_EQ(linear_gather({.ranks = 4, .root = 1, .order = all}, 1), expected);
  EXPECT_EQ(linear_gather({.ranks = 4, .root = 1, .order = others}, 1), expected);
}

TEST(GatherLinear, InPlaceHoldsForTheRootAloneAndDropsTheCopy) {
  const PlanRequest request{.ranks = 2, .root = 1, .in_place = true};
  EXPECT_EQ(linear_gather(request, 1), Lines{"0: receive receive[0] from 0"});
  EXPECT_TRUE(program_of(Collective::gather, "linear", request, 1).in_place);
  EXPECT_FALSE(program_of(Collective::gather, "linear", request, 0).in_place);
}

TEST(GatherLinear, OneRankCopies) {
  EXPECT_EQ(linear_gather({.ranks = 1}, 0), Lines{"0: receive[0] := send[0]"});
  EXPECT_EQ(linear_gather({.ranks = 1, .in_place = true}, 0), Lines{});
}

}  // namespace
}  // namespace sibyl
