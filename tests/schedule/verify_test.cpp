// The verifier must accept what is right and count it correctly. What it must refuse is in
// mutations_test.cpp.
#include "schedule/verify.hpp"

#include <gtest/gtest.h>

#include <string>

#include "schedule/hand_built.hpp"

namespace sibyl {
namespace {

TEST(Verify, AcceptsAnExclusiveScanAndCountsIt) {
  const VerifyResult result = verify_both_orders(exscan_plan());
  EXPECT_TRUE(result.ok) << result.problem;
  EXPECT_EQ(result.messages, 6U);
  EXPECT_EQ(result.control_messages, 0U);
  EXPECT_EQ(result.rounds, 3U);
  EXPECT_EQ(result.tags_used, 2U);
  EXPECT_EQ(result.max_operator_applications, 2U);
  EXPECT_EQ(result.last_rank_operator_applications, 2U);
}

TEST(Verify, AcceptsAGatherThroughARelay) {
  const VerifyResult result = verify_both_orders(gather_plan());
  EXPECT_TRUE(result.ok) << result.problem;
  EXPECT_EQ(result.units_sent, 3U);
}

TEST(Verify, AcceptsAGatherWhoseRootIsInPlace) {
  Plan plan = gather_plan();
  plan.programs[1].in_place = true;
  plan.programs[1].steps.pop_back();
  EXPECT_TRUE(verify_both_orders(plan).ok);
}

TEST(Verify, AcceptsScansInPlaceAtSomeRanks) {
  Plan plan = scan_in_place();
  EXPECT_TRUE(verify_both_orders(plan).ok);
  plan.programs[0].in_place = false;
  ProgramBuilder(plan.programs[0]).copy(unit(Buffer::receive), unit(Buffer::send), 1);
  const VerifyResult result = verify_both_orders(plan);
  EXPECT_TRUE(result.ok) << result.problem;
}

TEST(Verify, AcceptsOneRankWithNothingToDo) {
  Plan plan;
  plan.header.ranks = 1;
  plan.programs.resize(1);
  EXPECT_TRUE(verify_both_orders(plan).ok);
}

TEST(Verify, HoldsAMessageThatArrivesBeforeItMayBeCombined) {
  const VerifyResult result = verify_both_orders(held_plan());
  EXPECT_TRUE(result.ok) << result.problem;
}

TEST(Verify, TakesGapsWhereTheOperatorCommutes) {
  // Rank 2 combines V_0 with V_2 first and puts V_1 to the left of both.
  Plan plan;
  plan.header.collective = Collective::scan;
  plan.header.ranks = 3;
  plan.header.rounds = 1;
  plan.programs.resize(3);
  for (std::size_t r = 0; r < 3; ++r) {
    ProgramBuilder(plan.programs[r]).copy(unit(Buffer::receive), unit(Buffer::send), 0);
  }
  ProgramBuilder zero(plan.programs[0]);
  zero.send(1, unit(Buffer::send), 0);
  zero.send(2, unit(Buffer::send), 0);
  ProgramBuilder one(plan.programs[1]);
  one.send(2, unit(Buffer::send), 0);
  one.receive_combine(0, unit(Buffer::receive), 0);
  ProgramBuilder two(plan.programs[2]);
  two.receive_combine(0, unit(Buffer::receive), 0);
  two.receive_combine(1, unit(Buffer::receive), 0);
  EXPECT_TRUE(verify_both_orders(plan).ok);
  plan.header.keeps_order = true;
  const VerifyResult refused = verify_both_orders(plan);
  EXPECT_NE(refused.problem.find("breaks the order of operands"), std::string::npos)
      << refused.problem;
}

}  // namespace
}  // namespace sibyl
