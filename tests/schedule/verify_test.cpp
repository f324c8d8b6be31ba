// The verifier must accept what is right, and refuse a plan in which exactly one thing is wrong,
// naming that thing.
#include "schedule/verify.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "schedule/hand_built.hpp"

namespace sibyl {
namespace {

// Both orders of execution must agree, and a Verifier that has seen another plan with a fresh one.
VerifyResult verify_both_orders(const Plan& plan) {
  Verifier verifier;
  verifier.verify(gather_plan());
  const VerifyResult newest = verifier.verify(plan);
  verifier.set_run_order(RunOrder::oldest_first);
  const VerifyResult oldest = verifier.verify(plan);
  EXPECT_EQ(newest.ok, oldest.ok) << newest.problem << " / " << oldest.problem;
  const VerifyResult fresh = verify(plan);
  EXPECT_EQ(newest.problem, fresh.problem);
  return newest;
}

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

// Rank 1 combines what it receives from rank 0 onto its own input.
Plan scan_in_place() {
  Plan plan;
  plan.header.collective = Collective::scan;
  plan.header.ranks = 2;
  plan.header.rounds = 1;
  plan.header.keeps_order = true;
  plan.programs.resize(2);
  ProgramBuilder(plan.programs[0]).send(1, unit(Buffer::send), 0);
  ProgramBuilder(plan.programs[1]).receive_combine(0, unit(Buffer::receive), 0);
  plan.programs[0].in_place = plan.programs[1].in_place = true;
  return plan;
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

// A plan and the one thing that is wrong with it.
struct Mutation {
  const char* name;
  std::function<void(Plan&)> apply;
  const char* problem;  // part of the line
  Plan (*plan)() = exscan_plan;
};

Step& step(Plan& plan, std::size_t rank, std::size_t index) {
  return plan.programs[rank].steps[index];
}

class Mutations : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutations, AreRefusedWithTheirName) {
  Plan plan = GetParam().plan();
  ASSERT_TRUE(verify(plan).ok) << verify(plan).problem;
  GetParam().apply(plan);
  const VerifyResult result = verify_both_orders(plan);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.problem.find(GetParam().problem), std::string::npos) << result.problem;
}

// A scatter whose two ranks exchange control messages first.
Plan ping_plan() {
  Plan plan;
  plan.header.collective = Collective::scatter;
  plan.header.ranks = 2;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1;
  plan.header.tag_span = 2;
  plan.programs.resize(2);
  ProgramBuilder zero(plan.programs[0]);
  zero.send(1, ProgramBuilder::nothing(), 0);
  zero.receive(1, ProgramBuilder::nothing(), 0);
  zero.send(1, unit(Buffer::send, 1), 0);
  zero.copy(unit(Buffer::receive, 0), unit(Buffer::send, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  one.receive(0, ProgramBuilder::nothing(), 0);
  one.send(0, ProgramBuilder::nothing(), 0);
  one.receive(0, unit(Buffer::receive, 1), 0);
  return plan;
}

// Rank 1 posts the receive of its block and behind it that of a control message, which moves first:
// rank 0 sends the block only when it knows from rank 2 that the control message has moved.
Plan window_plan() {
  Plan plan;
  plan.header.collective = Collective::scatter;
  plan.header.ranks = 3;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1;
  plan.header.window.receives = 2;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  const StepIndex first[] = {0};
  ProgramBuilder zero(plan.programs[0]);
  zero.receive(2, go, 0);
  zero.send(1, unit(Buffer::send, 1), 0, Gate::on_arrival, first);
  zero.send(2, unit(Buffer::send, 2), 0);
  zero.copy(unit(Buffer::receive, 0), unit(Buffer::send, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  one.receive(0, unit(Buffer::receive, 1), 0);
  one.receive(2, go, 0);
  ProgramBuilder two(plan.programs[2]);
  two.send(1, go, 0);
  two.send(0, go, 0, Gate::on_arrival, first);
  two.receive(0, unit(Buffer::receive, 2), 0);
  return plan;
}

// The same with a staging pool: at rank 2 the message of rank 0 is named first and moves last.
Plan staging_plan() {
  Plan plan;
  plan.header.collective = Collective::scan;
  plan.header.ranks = 3;
  plan.header.rounds = 1;
  plan.header.staging = 2;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  const Slice v = unit(Buffer::send);
  const Slice w = unit(Buffer::receive);
  const StepIndex first[] = {0};
  ProgramBuilder zero(plan.programs[0]);
  zero.receive(1, go, 0);
  zero.send(2, v, 0, Gate::on_arrival, first);
  zero.send(1, v, 0);
  zero.copy(w, v, 0);
  ProgramBuilder one(plan.programs[1]);
  one.send(2, v, 0);
  one.send(0, go, 0, Gate::on_arrival, first);
  one.copy(w, v, 0);
  one.receive_combine(0, w, 0);
  ProgramBuilder two(plan.programs[2]);
  two.copy(w, v, 0);
  two.receive_combine(0, w, 0);
  two.receive_combine(1, w, 0);
  return plan;
}

// At rank 1 the message of rank 0 arrives while `receive` is still being sent, so it has to be
// held until it may be combined.
Plan held_plan() {
  Plan plan = ping_plan();
  plan.header.collective = Collective::scan;
  plan.header.partition = Partition::vector;
  for (Program& program : plan.programs) program.clear();
  const Slice go = ProgramBuilder::nothing();
  const Slice v = unit(Buffer::send);
  const Slice w = unit(Buffer::receive);
  ProgramBuilder zero(plan.programs[0]);
  plan.programs[0].scratch_units = 1;
  const StepIndex sent[] = {zero.send(1, v, 0)};
  zero.receive(1, unit(Buffer::scratch), 0, Gate::on_arrival, sent);
  zero.copy(w, v, 0);
  zero.send(1, go, 0);
  ProgramBuilder one(plan.programs[1]);
  one.copy(w, v, 0);
  one.send(0, w, 0);
  one.receive_combine(0, w, 0);
  one.receive(0, go, 0);
  return plan;
}

TEST(Verify, HoldsAMessageThatArrivesBeforeItMayBeCombined) {
  const VerifyResult result = verify_both_orders(held_plan());
  EXPECT_TRUE(result.ok) << result.problem;
}

const Mutation mutations[] = {
    {"DroppedReceive", [](Plan& p) { p.programs[3].steps.pop_back(); }, "no matching receive"},
    {"DroppedSend", [](Plan& p) { p.programs[1].steps.pop_back(); }, "no matching send"},
    {"DroppedMessage",
     [](Plan& p) {
       p.programs[1].steps.pop_back();
       p.programs[3].steps.pop_back();
       p.header.rounds = 2;
     },
     "incomplete output: unit 0 of receive holds ranks 1-2, not ranks 0-2"},
    {"SwappedOperands",
     [](Plan& p) {
       Program& last = p.programs[3];
       last.scratch_units = 1;
       last.steps.pop_back();
       ProgramBuilder build(last);
       build.receive(1, unit(Buffer::scratch), 2);
       build.combine(unit(Buffer::scratch), unit(Buffer::receive), 2);
       build.copy(unit(Buffer::receive), unit(Buffer::scratch), 2);
     },
     "breaks the order of operands: combines ranks 1-2 with rank 0"},
    {"DoubleCounting", [](Plan& p) { step(p, 1, 2).slice = unit(Buffer::send); },
     "counts a contribution twice"},
    {"TagSpanTooSmall", [](Plan& p) { p.header.tag_span = 1; }, "beyond the tag span of 1"},
    {"TwoSendsInARound", [](Plan& p) { step(p, 1, 2).round = step(p, 2, 3).round = 0; },
     "second send in one round"},
    {"TwoReceivesInARound", [](Plan& p) { step(p, 3, 1).round = 0; },
     "second receive in one round"},
    {"RoundsTooMany", [](Plan& p) { p.header.rounds = 4; },
     "the plan says 4 rounds, its messages use 3"},
    {"RoundsTooFew", [](Plan& p) { p.header.rounds = 2; }, "lies beyond the 2 rounds"},
    {"RoundsGoBack", [](Plan& p) { step(p, 1, 0).round = 1; }, "goes back from round 1"},
    {"UnequalRounds",
     [](Plan& p) {
       p.header.one_ported = false;
       step(p, 3, 1).round = 2;
     },
     "unequal rounds"},
    {"WriteToTheReceiveOfRank0",
     [](Plan& p) {
       ProgramBuilder(p.programs[0]).copy(unit(Buffer::receive), unit(Buffer::send), 0);
     },
     "rank 0 of an exclusive scan must leave untouched"},
    {"WriteToTheInputOfRank0InPlace",
     [](Plan& p) {
       p.programs[0].in_place = true;
       p.programs[0].scratch_units = 1;
       ProgramBuilder build(p.programs[0]);
       build.copy(unit(Buffer::scratch), unit(Buffer::send), 0);
       build.copy(unit(Buffer::send), unit(Buffer::scratch), 0);
     },
     "rank 0 of an exclusive scan must leave untouched"},
    {"WriteToTheSendBuffer",
     [](Plan& p) {
       ProgramBuilder(p.programs[3]).copy(unit(Buffer::send), unit(Buffer::receive), 2);
     },
     "writes send, which belongs to the caller"},
    {"ReadOfUnsetScratch",
     [](Plan& p) {
       p.programs[1].scratch_units = 1;
       step(p, 1, 3).slice = unit(Buffer::scratch);
     },
     "reads unit 0 of scratch, which holds nothing"},
    {"ScratchOutOfBounds", [](Plan& p) { step(p, 1, 3).slice = unit(Buffer::scratch); },
     "names unit 0 of scratch, which does not exist"},
    {"SendOutOfBounds", [](Plan& p) { step(p, 0, 0).slice = unit(Buffer::send, 0, 2); },
     "names unit 1 of send, which does not exist"},
    {"PeerOutOfRange", [](Plan& p) { step(p, 0, 0).peer = 4; }, "peer that is not a rank"},
    {"PeerIsItself", [](Plan& p) { step(p, 0, 0).peer = 0; }, "its own rank as peer"},
    {"AfterNamesALaterStep",
     [](Plan& p) {
       p.programs[1].after = {2};
       step(p, 1, 2).after_size = 1;
     },
     "waits with `after` for step 2, which is not an earlier one"},
    {"CopyOntoItself",
     [](Plan& p) {
       ProgramBuilder(p.programs[3]).copy(unit(Buffer::receive), unit(Buffer::receive), 2);
     },
     "reads a unit that it writes"},
    {"CopyOntoItselfInPlace",
     [](Plan& p) { ProgramBuilder(p.programs[1]).copy(unit(Buffer::receive), unit(Buffer::send), 1); },
     "reads a unit that it writes", scan_in_place},
    {"UnequalCountsOfACopy",
     [](Plan& p) {
       step(p, 2, 1).slice = unit(Buffer::scratch, 1, 1);
       step(p, 2, 1).from = unit(Buffer::send, 2, 0);
     },
     "unequal unit counts", gather_plan},
    {"UnequalCountsOfAMessage", [](Plan& p) { step(p, 2, 2).slice = unit(Buffer::scratch, 0); },
     "unequal unit counts at its ends", gather_plan},
    {"BlocksInWrongOrder",
     [](Plan& p) {
       step(p, 2, 0).slice = unit(Buffer::scratch, 1);
       step(p, 2, 1).slice = unit(Buffer::scratch, 0);
     },
     "puts unit 2 where unit 0 of receive belongs", gather_plan},
    {"SliceNamesAUnitTwice",
     [](Plan& p) {
       p.programs[1].ranges = {{0, 1}, {0, 1}};
     },
     "writes a unit twice", gather_plan},
    {"BlockOfAnotherRank", [](Plan& p) { step(p, 0, 0).slice = unit(Buffer::send, 1); },
     "names unit 1 of send, which does not exist", gather_plan},
    {"CombineInAGather", [](Plan& p) { step(p, 2, 1).kind = StepKind::combine; },
     "combines in a collective that only moves data", gather_plan},
    {"NonRootInPlace", [](Plan& p) { p.programs[2].in_place = true; },
     "only the root of a gather can be", gather_plan},
    {"OwnContributionBeforeArrival", [](Plan& p) { step(p, 2, 1).gate = Gate::on_start; },
     "open from the start but reads this rank's own contribution", gather_plan},
    {"InputOverwrittenBeforeArrival",
     [](Plan& p) {
       step(p, 1, 0).kind = StepKind::receive;
       step(p, 1, 0).gate = Gate::on_start;
     },
     "open from the start but overwrites this rank's own contribution", scan_in_place},
    {"WaitsForItself",
     [](Plan& p) {
       // The message of rank 0 is held for a send that rank 0 takes only afterwards.
       p.programs[1].after = {1};
       step(p, 1, 2).after_size = 1;
     },
     "deadlock", held_plan},
    {"MissingProgram", [](Plan& p) { p.programs.pop_back(); }, "3 programs for 4 ranks"},
    {"CyclicRendezvous",
     [](Plan& p) {
       // Both receive before they send.
       p.programs[0].after = {0};
       std::swap(step(p, 0, 0), step(p, 0, 1));
       step(p, 0, 1).after_size = 1;
       p.programs[1].after = {0};
       step(p, 1, 1).after_size = 1;
     },
     "deadlock", ping_plan},
    {"WindowTooSmall", [](Plan& p) { p.header.window.receives = 1; },
     "rank 1, step 1 (receive from 2, round 0) ends in a deadlock: finds no place in the port "
     "window of 1",
     window_plan},
    {"StagingTooSmall", [](Plan& p) { p.header.staging = 1; },
     "rank 2, step 2 (receive_combine from 1, round 0) ends in a deadlock: finds no slot in the "
     "staging pool of 1",
     staging_plan},
};

INSTANTIATE_TEST_SUITE_P(Verify, Mutations, ::testing::ValuesIn(mutations),
                         [](const auto& info) { return std::string(info.param.name); });

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

TEST(Verify, NamesRankStepAndRound) {
  Plan plan = exscan_plan();
  plan.programs[3].steps.pop_back();
  EXPECT_EQ(verify(plan).problem, "rank 1, step 3 (send to 3, round 2) has no matching receive");
}

}  // namespace
}  // namespace sibyl
