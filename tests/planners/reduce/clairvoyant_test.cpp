// Reduce after a Clairvoyant schedule: proved for many patterns, and the programs of single ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "planners/program_text.hpp"
#include "schedule/verify.hpp"
#include "sibyl/clairvoyant.hpp"

namespace sibyl {
namespace {

const Algorithm& clairvoyant() { return *find_algorithm(Collective::reduce, "clairvoyant"); }

// The example of section 4.2 of the source, its rank 1.
TEST(ReduceClairvoyant, ARankAddsUpInScratchAndLeavesItsSendBufferAlone) {
  const std::vector arrivals{0.0, 0.0, 0.0, 1.1};
  const PlanRequest request{.ranks = 4, .segments = 4, .arrivals = arrivals};
  const Lines lines = text_of(program_of(Collective::reduce, "clairvoyant", request, 1));
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(lines[0], "0: send send[0] to 0");
  EXPECT_EQ(lines[1], "0: scratch[1] := send[1]");
  EXPECT_EQ(lines[2], "0: scratch[1] := from 0 (+) scratch[1]");
  EXPECT_EQ(lines[3], "1: scratch[1] := from 3 (+) scratch[1]");
}

TEST(ReduceClairvoyant, WhatTheRootHadSentOverwrites) {
  const PlanRequest request{.ranks = 2, .segments = 2};
  // Round 0: segment 0 to the root and segment 1 to rank 1; round 1: segment 1 comes back.
  EXPECT_EQ(text_of(program_of(Collective::reduce, "clairvoyant", request, 0)),
            (Lines{"0: receive[0] := send[0]", "0: receive[0] := from 1 (+) receive[0]",
                   "0: send send[1] to 1", "1: receive receive[1] from 1"}));
  PlanRequest in_place = request;
  in_place.in_place = true;
  EXPECT_EQ(text_of(program_of(Collective::reduce, "clairvoyant", in_place, 0)),
            (Lines{"0: receive[0] := from 1 (+) receive[0]", "0: send receive[1] to 1",
                   "1: receive receive[1] from 1"}));
}

TEST(ReduceClairvoyant, ASingleRankCopiesUnlessInPlace) {
  PlanRequest request{.ranks = 1, .segments = 3};
  EXPECT_EQ(text_of(program_of(Collective::reduce, "clairvoyant", request, 0)),
            (Lines{"0: receive[0-2] := send[0-2]"}));
  request.in_place = true;
  EXPECT_TRUE(program_of(Collective::reduce, "clairvoyant", request, 0).steps.empty());
}

TEST(ReduceClairvoyant, OneGenerationGivesTheSameHeaderAndProgramAsTwo) {
  const std::vector arrivals{0.3, 0.0, 4.5, 1.1, 2.0};
  const PlanRequest request{.ranks = 5, .root = 2, .segments = 6, .arrivals = arrivals};
  const PlanHeader described = clairvoyant().describe(request);
  const Plan plan = make_plan(clairvoyant(), request);
  // A pair's messages, counted one by one.
  std::map<std::pair<Rank, Rank>, std::uint32_t> messages;
  std::uint32_t most = 0;
  for (Rank rank = 0; rank < 5; ++rank) {
    Program once;
    const PlanHeader header = plan_one_rank(clairvoyant(), request, rank, once);
    EXPECT_EQ(header.rounds, described.rounds);
    EXPECT_EQ(header.tag_span, described.tag_span);
    EXPECT_EQ(text_of(once), text_of(program_of(Collective::reduce, "clairvoyant", request, rank)));
    for (const Step& step : plan.programs[static_cast<std::size_t>(rank)].steps) {
      if (step.kind == StepKind::send) most = std::max(most, ++messages[{rank, step.peer}]);
    }
  }
  EXPECT_EQ(described.tag_span, most);
}

TEST(ReduceClairvoyant, IsProvedForManyPatternsRootsAndSegments) {
  std::mt19937 random(20261121);
  const auto between = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  Verifier verifier;
  for (int i = 0; i < 600; ++i) {
    const auto ranks = static_cast<Rank>(between(1, i % 10 == 0 ? 60 : 17));
    const auto root = static_cast<Rank>(between(0, static_cast<std::size_t>(ranks) - 1));
    const PatternShape shape = pattern_shapes()[between(0, pattern_shapes().size() - 1)];
    const ArrivalPattern pattern =
        make_pattern({shape, ranks, root, 0.5 * static_cast<double>(between(0, 40)), random()})
            .pattern;
    PlanRequest request{.ranks = ranks, .root = root, .in_place = between(0, 1) == 1};
    request.arrivals = pattern.times;
    request.segments = static_cast<std::uint32_t>(between(1, 20));
    request.round_time = 0.25 * static_cast<double>(between(1, 8));
    request.root_order = between(0, 1) == 0 ? RootOrder::first : RootOrder::availability;
    request.generator = clairvoyant_generators()[between(0, 3)];
    request.in_order = between(0, 1) == 1;
    ASSERT_EQ(check_request(clairvoyant(), request), "");
    const Plan plan = make_plan(clairvoyant(), request);
    const VerifyResult result = verifier.verify(plan);
    ASSERT_TRUE(result.ok) << result.problem << ": " << ranks << " ranks, root " << root << ", "
                           << name_of(shape) << ", " << request.segments << " segments";
    ASSERT_GE(result.units_sent, static_cast<std::uint64_t>(ranks - 1) * request.segments);
    // One rank alone plans the same, and so does who only asks for the header.
    const auto rank = static_cast<Rank>(between(0, static_cast<std::size_t>(ranks) - 1));
    Program alone;
    clairvoyant().plan(request, rank, alone);
    ASSERT_EQ(text_of(alone), text_of(plan.programs[static_cast<std::size_t>(rank)]));
    ASSERT_EQ(clairvoyant().describe(request).rounds, plan.header.rounds);
    ASSERT_EQ(plan.header.window.in_order, request.in_order);
    ASSERT_EQ(clairvoyant().describe(request).tag_span, plan.header.tag_span);
  }
}

// What the verifier's yes rests on: that it says no when an overwriting receive combines.
TEST(ReduceClairvoyant, CombiningWhatWasSentBeforeIsRefused) {
  Plan plan = make_plan(clairvoyant(), {.ranks = 2, .segments = 2});
  Step& last = plan.programs[0].steps.back();
  ASSERT_EQ(last.kind, StepKind::receive);
  last.kind = StepKind::receive_combine;
  EXPECT_FALSE(verify(plan).ok);
}

TEST(ReduceClairvoyant, RequestsThatMakeNoSenseAreRefusedInOneLine) {
  const std::vector two{0.0, 1.0};
  const auto problem = [](const PlanRequest& request) {
    return check_request(clairvoyant(), request);
  };
  EXPECT_EQ(problem({.ranks = 2, .arrivals = two}), "");
  EXPECT_NE(problem({.ranks = 3, .arrivals = two}).find("2 arrival times for 3 ranks"),
            std::string::npos);
  EXPECT_NE(problem({.ranks = 2, .segments = 0}).find("0 segments"), std::string::npos);
  EXPECT_NE(problem({.ranks = 2, .round_time = 0}).find("round time"), std::string::npos);
  EXPECT_NE(problem({.ranks = 1 << 20, .segments = 1 << 20}).find("fewer segments"),
            std::string::npos);
  const Algorithm& linear = *find_algorithm(Collective::gather, "linear");
  EXPECT_NE(check_request(linear, {.ranks = 2, .arrivals = two}).find("arrival"),
            std::string::npos);
}

}  // namespace
}  // namespace sibyl
