// Reduce around a ring: its programs for three ranks, and what each rank sends.
#include <gtest/gtest.h>

#include <string>

#include "planners/program_text.hpp"
#include "schedule/verify.hpp"

namespace sibyl {
namespace {

Lines ring_reduce(const PlanRequest& request, Rank rank) {
  return text_of(program_of(Collective::reduce, "ring", request, rank));
}

TEST(ReduceRing, SumsTakeUpAnOperandAtEveryRank) {
  const PlanRequest request{.ranks = 3};
  EXPECT_EQ(ring_reduce(request, 1),
            (Lines{"0: send send[0] to 2", "0: receive scratch[2] from 0",
                   "0: scratch[2] := send[2] (+) scratch[2]", "1: send scratch[2] to 2",
                   "1: receive scratch[1] from 0", "1: scratch[1] := send[1] (+) scratch[1]",
                   "2: send scratch[1] to 0"}));
}

TEST(ReduceRing, TheRootAddsUpWhereTheResultBelongs) {
  PlanRequest request{.ranks = 3};
  EXPECT_EQ(ring_reduce(request, 0),
            (Lines{"0: send send[2] to 1", "0: receive receive[1] from 2",
                   "0: receive[1] := send[1] (+) receive[1]", "1: send receive[1] to 1",
                   "1: receive receive[0] from 2", "1: receive[0] := send[0] (+) receive[0]",
                   "2: receive receive[1] from 1", "3: receive receive[2] from 2"}));
  request.in_place = true;
  EXPECT_EQ(ring_reduce(request, 0),
            (Lines{"0: send send[2] to 1", "0: receive scratch[1] from 2",
                   "0: scratch[1] := send[1] (+) scratch[1]", "1: send scratch[1] to 1",
                   "1: receive[0] := from 2 (+) receive[0]", "2: receive receive[1] from 1",
                   "3: receive receive[2] from 2"}));
}

TEST(ReduceRing, EveryRankButTheRootSendsAsManyPartsAsThereAreRanks) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    const Plan plan =
        make_plan(*find_algorithm(Collective::reduce, "ring"), {.ranks = ranks, .root = ranks - 1});
    const VerifyResult result = verify(plan);
    ASSERT_TRUE(result.ok) << result.problem;
    const auto all = static_cast<std::uint64_t>(ranks);
    EXPECT_EQ(result.units_sent, all * all - 1);
    EXPECT_EQ(result.max_operator_applications, all - 1);
  }
}

TEST(ReduceParts, MoreRanksThanPartsCanBeNumberedForAreRefused) {
  for (const std::string_view name : {"rabenseifner", "radix-k", "ring"}) {
    const Algorithm& row = *find_algorithm(Collective::reduce, name);
    EXPECT_EQ(check_request(row, {.ranks = 32768}), "");
    EXPECT_NE(check_request(row, {.ranks = 32769}).find("at most 32768"), std::string::npos);
  }
}

}  // namespace
}  // namespace sibyl
