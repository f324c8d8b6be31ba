// The inclusive scan by doubling: programs written out by hand, rounds.
#include <gtest/gtest.h>

#include "planners/program_text.hpp"

namespace sibyl {
namespace {

Lines scan_text(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::scan, "doubling", request, rank));
}

TEST(ScanDoubling, OneRankCopiesItsValueUnlessItIsInPlace) {
  EXPECT_EQ(scan_text({.ranks = 1}, 0), Lines{"0: receive[0] := send[0]"});
  EXPECT_EQ(scan_text({.ranks = 1, .in_place = true}, 0), Lines{});
}

TEST(ScanDoubling, OnFiveRanksIsAsWrittenByHand) {
  const PlanRequest request{.ranks = 5};
  EXPECT_EQ(scan_text(request, 0), (Lines{"0: send send[0] to 1", "0: receive[0] := send[0]",
                                          "1: send receive[0] to 2", "2: send receive[0] to 4"}));
  EXPECT_EQ(scan_text(request, 2),
            (Lines{"0: send send[0] to 3", "0: receive[0] := send[0]",
                   "0: receive[0] := from 1 (+) receive[0]", "1: send receive[0] to 4",
                   "1: receive[0] := from 0 (+) receive[0]"}));
  EXPECT_EQ(
      scan_text(request, 4),
      (Lines{"0: receive[0] := send[0]", "0: receive[0] := from 3 (+) receive[0]",
             "1: receive[0] := from 2 (+) receive[0]", "2: receive[0] := from 0 (+) receive[0]"}));
}

TEST(ScanDoubling, InPlaceSendsAndCombinesInTheReceiveBuffer) {
  EXPECT_EQ(scan_text({.ranks = 3, .in_place = true}, 1),
            (Lines{"0: send receive[0] to 2", "0: receive[0] := from 0 (+) receive[0]"}));
}

TEST(ScanDoubling, LastRankTakesPartInEveryRoundOfTheHeader) {
  const Algorithm& algorithm = *find_algorithm(Collective::scan, "doubling");
  Program program;
  for (Rank ranks = 2; ranks <= 5000; ++ranks) {
    std::uint32_t rounds = 0;
    while ((std::int64_t{1} << rounds) < ranks) ++rounds;
    algorithm.plan({.ranks = ranks}, ranks - 1, program);
    ASSERT_EQ(algorithm.describe({.ranks = ranks}).rounds, rounds) << ranks;
    ASSERT_EQ(program.steps.size(), rounds + 1U) << ranks;
    ASSERT_EQ(program.steps.back().round + 1, rounds) << ranks;
  }
}

}  // namespace
}  // namespace sibyl
