// A plan in which exactly one thing is wrong must be refused with a line that names that thing: one
// mutation for every property that the verifier claims.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "schedule/hand_built.hpp"
#include "schedule/verify.hpp"

namespace sibyl {
namespace {

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
     [](Plan& p) {
       ProgramBuilder(p.programs[1]).copy(unit(Buffer::receive), unit(Buffer::send), 1);
     },
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
    {"SliceNamesAUnitTwice", [](Plan& p) { p.programs[1].ranges = {{0, 1}, {0, 1}}; },
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
    {"PartInThePlaceOfAnother",
     [](Plan& p) {
       step(p, 1, 0).slice = step(p, 1, 1).slice = step(p, 1, 3).slice = unit(Buffer::scratch, 3);
     },
     "puts part 0 into unit 3 of scratch, the place of part 1", parts_plan},
    {"ScratchBeyondACopyOfTheVector",
     [](Plan& p) { step(p, 1, 0).slice = unit(Buffer::scratch, 1, 2); },
     "names unit 1 of scratch and beyond the end of its copy", parts_plan},
    {"ListOfPartsInAMessage",
     [](Plan& p) {
       p.programs[1].ranges = {{0, 1}, {1, 1}};
       step(p, 1, 3).slice = Slice{Buffer::send, {0, 2}, 0, 2};
     },
     "names a list of ranges, which a slice of a vector cannot be", parts_plan},
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
    {"ReceiveBehindOneThatCannotBePosted",
     [](Plan& p) {
       p.programs[0].after.push_back(1);
       step(p, 0, 2).after = static_cast<std::uint32_t>(p.programs[0].after.size() - 1);
       step(p, 0, 2).after_size = 1;
     },
     "deadlock", combining_plan},
    {"TooFewSendsToOne", [](Plan& p) { p.header.window.sends_to_one = 1; },
     "rank 0, step 1 (send to 1, round 0) ends in a deadlock: finds no place in the port window "
     "of 1",
     two_to_one_plan},
    // Later ones may have all places then, and the first waits for what comes after the second.
    {"SendsInAnyOrder", [](Plan& p) { p.header.window.in_order = false; },
     "rank 0, step 1 (send to 1, round 0) ends in a deadlock: finds no place in the port window "
     "of 1",
     two_to_one_plan},
    // As many as 2^32 and 3 in all.
    {"TooManyUnits",
     [](Plan& p) {
       for (Program& program : p.programs) program.scratch_units = (1U << 30) - 1;
     },
     "the plan has too many units"},
};

INSTANTIATE_TEST_SUITE_P(Verify, Mutations, ::testing::ValuesIn(mutations),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Verify, NamesRankStepAndRound) {
  Plan plan = exscan_plan();
  plan.programs[3].steps.pop_back();
  EXPECT_EQ(verify(plan).problem, "rank 1, step 3 (send to 3, round 2) has no matching receive");
}

}  // namespace
}  // namespace sibyl
