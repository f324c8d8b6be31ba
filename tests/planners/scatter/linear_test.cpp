// The linear scatter: programs written out by hand.
#include <gtest/gtest.h>

#include <array>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines linear_scatter(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::scatter, "linear", request, rank));
}

TEST(ScatterLinear, RootSendsInRankOrderOneAtATime) {
  const PlanRequest request{.ranks = 4, .root = 2};
  EXPECT_EQ(linear_scatter(request, 2),
            (Lines{"0: send send[0] to 0", "1: send send[1] to 1", "2: send send[3] to 3",
                   "2: receive[2] := send[2]"}));
  EXPECT_EQ(linear_scatter(request, 0), Lines{"0: receive receive[0] from 2"});
  const PlanHeader header = find_algorithm(Collective::scatter, "linear")->describe(request);
  EXPECT_EQ(header.window.sends, 1U);
  EXPECT_EQ(header.window.receives, 0U);
}

TEST(ScatterLinear, OrderRulesTheRootAndBackgroundOpensTheLeavesReceives) {
  const std::array<Rank, 4> order{3, 2, 0, 1};
  const PlanRequest request{.ranks = 4, .root = 2, .order = order, .background = true};
  EXPECT_EQ(linear_scatter(request, 2),
            (Lines{"0: send send[3] to 3", "1: send send[0] to 0", "2: send send[1] to 1",
                   "2: receive[2] := send[2]"}));
  EXPECT_EQ(linear_scatter(request, 0), Lines{"1: receive receive[0] from 2 on_start"});
}

TEST(ScatterLinear, InPlaceHoldsForTheRootAloneAndDropsTheCopy) {
  const PlanRequest request{.ranks = 2, .in_place = true};
  EXPECT_EQ(linear_scatter(request, 0), Lines{"0: send send[1] to 1"});
  EXPECT_TRUE(program_of(Collective::scatter, "linear", request, 0).in_place);
  EXPECT_FALSE(program_of(Collective::scatter, "linear", request, 1).in_place);
  EXPECT_EQ(linear_scatter({.ranks = 1}, 0), Lines{"0: receive[0] := send[0]"});
}

}  // namespace
}  // namespace sibyl
