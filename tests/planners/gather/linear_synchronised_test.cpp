// The linear synchronised gather: the protocol, step by step.
#include <gtest/gtest.h>

#include <array>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines linear_synchronised_gather(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::gather, "linear-synchronised", request, rank));
}

TEST(GatherLinearSynchronised, LeafSendsBothSegmentsOnlyAfterTheGoAhead) {
  EXPECT_EQ(linear_synchronised_gather({.ranks = 4, .root = 1}, 2),
            (Lines{"1: receive nothing from 1", "1: send send[4] to 1 after 0",
                   "1: send send[5] to 1 after 0"}));
}

TEST(GatherLinearSynchronised, RootAsksTheNextLeafWhenSegmentAOfThisOneIsThere) {
  EXPECT_EQ(linear_synchronised_gather({.ranks = 4, .root = 1}, 1),
            (Lines{"0: receive receive[0] from 0", "0: send nothing to 0",
                   "0: receive receive[1] from 0", "1: receive receive[4] from 2 after 0",
                   "1: send nothing to 2 after 0", "1: receive receive[5] from 2 after 0",
                   "2: receive receive[6] from 3 after 3", "2: send nothing to 3 after 3",
                   "2: receive receive[7] from 3 after 3", "2: receive[2-3] := send[2-3]"}));
}

TEST(GatherLinearSynchronised, BackgroundOpensTheRootsReceivesAndGoAheadsAndNothingElse) {
  const std::array<Rank, 2> order{2, 0};
  const PlanRequest request{.ranks = 3, .root = 1, .order = order, .background = true};
  EXPECT_EQ(
      linear_synchronised_gather(request, 1),
      (Lines{"0: receive receive[4] from 2 on_start", "0: send nothing to 2 on_start",
             "0: receive receive[5] from 2 on_start",
             "1: receive receive[0] from 0 on_start after 0",
             "1: send nothing to 0 on_start after 0",
             "1: receive receive[1] from 0 on_start after 0", "1: receive[2-3] := send[2-3]"}));
  EXPECT_EQ(linear_synchronised_gather(request, 0),
            (Lines{"1: receive nothing from 1", "1: send send[0] to 1 after 0",
                   "1: send send[1] to 1 after 0"}));
}

TEST(GatherLinearSynchronised, BlocksHaveTwoSegmentsAndAPairOfRanksTwoTags) {
  const Algorithm& algorithm = *find_algorithm(Collective::gather, "linear-synchronised");
  EXPECT_EQ(algorithm.describe({.ranks = 3}).segments, 2U);
  EXPECT_EQ(algorithm.describe({.ranks = 3}).tag_span, 2U);
}

TEST(GatherLinearSynchronised, InPlaceRootCopiesNothing) {
  EXPECT_EQ(linear_synchronised_gather({.ranks = 2, .in_place = true}, 0),
            (Lines{"0: receive receive[2] from 1", "0: send nothing to 1",
                   "0: receive receive[3] from 1"}));
  EXPECT_EQ(linear_synchronised_gather({.ranks = 1}, 0), Lines{"0: receive[0-1] := send[0-1]"});
  EXPECT_EQ(linear_synchronised_gather({.ranks = 1, .in_place = true}, 0), Lines{});
}

}  // namespace
}  // namespace sibyl
