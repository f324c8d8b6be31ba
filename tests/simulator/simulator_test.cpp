// The rules of the simulator, on programs small enough to be counted by hand.
#include "sibyl/simulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sibyl/arrival.hpp"
#include "sibyl/planners.hpp"
#include "simulator/by_hand.hpp"

namespace sibyl {
namespace {

TEST(Simulator, OneMessageTakesAlphaPlusBetaTimesItsBytes) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  const SimulationResult result = simulate(plan, sized(6), unit_network());
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.run_time, 4);
  EXPECT_EQ(result.exits, (std::vector<double>{4, 4}));
  EXPECT_EQ(result.messages, 1U);
  EXPECT_EQ(result.bytes, 6U);
}

TEST(Simulator, AMessageWaitsForTheLaterEnd) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions options = unit_network();
  const std::vector<double> arrivals = {10, 3};
  options.arrivals = arrivals;
  const SimulationResult result = simulate(plan, sized(6), options);
  EXPECT_EQ(result.exits, (std::vector<double>{14, 14}));
  EXPECT_EQ(result.run_time, 11);
  EXPECT_EQ(result.absorbed, 4);
  EXPECT_EQ(result.elapsed, (4 + 11) / 2.0);
  const std::vector<SimulatedWait> waits = waits_of(result, arrivals);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].rank, 1);
  EXPECT_EQ(waits[0].awaited, 0);
  EXPECT_EQ(waits[0].begin, 3);
  EXPECT_EQ(waits[0].end, 10);
}

TEST(Simulator, AReceiveThatIsOpenFromTheStartTakesItsMessageBeforeTheRankArrives) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0, 0, Gate::on_start);
  SimulationOptions options = unit_network();
  const std::vector<double> arrivals = {10, 3};
  options.arrivals = arrivals;
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{10, 7}));
  options.start = 5;
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{10, 9}));
}

TEST(Simulator, APortServesOneMessageAtATimeAndTheOneThatIsReadyFirstBeforeOthers) {
  Plan plan = blocks_plan(4);
  message(plan, 1, 0, 2);
  message(plan, 2, 0, 1);
  message(plan, 3, 0, 0);
  SimulationOptions options = unit_network();
  const std::vector<double> arrivals = {0, 1, 0, 2};
  options.arrivals = arrivals;
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{12, 8, 4, 12}));
  options.arrivals = {};  // all at once: by round
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{12, 12, 8, 4}));
  options.blocking = true;  // in program order
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{12, 4, 8, 12}));
}

TEST(Simulator, AnExchangeUsesBothDirectionsAtOnceUnlessPortsAreHalfDuplex) {
  Plan plan = blocks_plan(2);
  message(plan, 0, 1);
  message(plan, 1, 0);
  SimulationOptions options = unit_network();
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 4);
  options.network.full_duplex = false;
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 8);
}

TEST(Simulator, AnEagerMessageIsSentThoughNobodyReceives) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions options = unit_network();
  const std::vector<double> arrivals = {10, 0};
  options.arrivals = arrivals;
  options.network.eager_bytes = 6;
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{10, 4}));
  options.network.eager_bytes = 5;
  EXPECT_EQ(simulate(plan, sized(6), options).exits, (std::vector<double>{14, 14}));
}

TEST(Simulator, LogGPChargesOverheadAtBothEndsAndTheGapBetweenMessages) {
  Plan plan = blocks_plan(3);
  message(plan, 1, 0, 0);
  message(plan, 2, 0, 1);
  SimulationOptions options;
  options.network.kind = NetworkKind::loggp;
  options.network.loggp = {16, 1, 4, 0.5};
  const SimulationResult result = simulate(plan, sized(9), options);
  ASSERT_EQ(result.problem, "");
  const double body = 8 * 0.5;
  EXPECT_EQ(result.exits[1], 1 + body);
  EXPECT_EQ(result.exits[2], (4 + body) + 1 + body);
  EXPECT_EQ(result.exits[0], (4 + body) + 1 + body + 16 + 1);
}

TEST(Simulator, CombinationsOfARankTakePlaceOneAfterTheOtherBesideItsMessages) {
  PlanRequest request;
  request.ranks = 3;
  const Plan plan = make_plan(*find_algorithm(Collective::exscan, "1-doubling"), request);
  SimulationOptions options;
  options.network.hockney = {1, 0};
  options.compute.combine_per_byte = 0.5;
  const SimulationResult result = simulate(plan, sized(8), options);
  ASSERT_EQ(result.problem, "");
  // Two rounds, and one combination of eight bytes at the last rank.
  EXPECT_EQ(result.exits[2], 1 + 1 + 4);
}

TEST(Simulator, OfComputationsThatAreReadyTogetherTheFirstInTheProgramBegins) {
  Plan plan = blocks_plan(2);
  ProgramBuilder zero(plan.programs[0]);
  const std::vector<StepIndex> copied = {
      zero.copy(block(Buffer::receive, 0), block(Buffer::send, 0), 0)};
  zero.send(1, block(Buffer::receive, 0), 0, Gate::on_arrival, copied);
  zero.copy(block(Buffer::receive, 1), block(Buffer::send, 1), 0);
  ProgramBuilder(plan.programs[1]).receive(0, block(Buffer::receive, 0), 0);
  SimulationOptions options = unit_network();
  options.compute.copy_per_byte = 0.5;
  const SimulationResult result = simulate(plan, sized(8), options);
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.exits[1], 4 + 5);
}

TEST(Simulator, OfSendsThatAreReadyTogetherTheFirstInTheProgramHasTheOnePlace) {
  Plan plan = blocks_plan(5);
  plan.header.window = {.sends = 1, .receives = 0};
  message(plan, 1, 0);
  ProgramBuilder zero(plan.programs[0]);
  const std::vector<StepIndex> received = {0};
  zero.send(3, block(Buffer::receive, 1), 1, Gate::on_arrival, received);
  const std::vector<StepIndex> copied = {
      zero.copy(block(Buffer::receive, 0), block(Buffer::send, 0), 1)};
  zero.send(4, block(Buffer::receive, 0), 1, Gate::on_arrival, copied);
  ProgramBuilder(plan.programs[3]).receive(0, block(Buffer::receive, 1), 1);
  ProgramBuilder(plan.programs[4]).receive(0, block(Buffer::receive, 0), 1);
  SimulationOptions options = unit_network();
  options.compute.copy_per_byte = 5.0 / 8;  // done when the message has come
  const SimulationResult result = simulate(plan, sized(8), options);
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.exits[3], 5 + 5);
  EXPECT_EQ(result.exits[4], 5 + 5 + 5);
}

TEST(Simulator, TheTimeToPlanHoldsBackWhatNeedsTheCall) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions options = unit_network();
  options.compute.planning = 2;
  EXPECT_EQ(simulate(plan, sized(6), options).run_time, 6);
}

TEST(Simulator, DoublingScansTakeTheirRounds) {
  for (const char* name : {"1-doubling", "123-doubling", "two-op-doubling", "hybrid"}) {
    for (const Rank ranks : {2, 3, 5, 8, 36, 100, 1152}) {
      PlanRequest request;
      request.ranks = ranks;
      const Plan plan = make_plan(*find_algorithm(Collective::exscan, name), request);
      SimulationOptions options;
      options.network.hockney = {1, 0.5};
      const SimulationResult result = simulate(plan, sized(16), options);
      ASSERT_EQ(result.problem, "") << name << ", " << ranks << " ranks";
      EXPECT_EQ(result.run_time, plan.header.rounds * 9.0) << name << ", " << ranks << " ranks";
    }
  }
}

TEST(Simulator, UnevenPartsOfAVectorAreCutAsTheExecutorCutsThem) {
  Plan plan = blocks_plan(2);
  plan.header.collective = Collective::reduce;
  plan.header.partition = Partition::vector;
  plan.header.segments = 3;
  for (Unit part = 0; part < 3; ++part) {
    ProgramBuilder(plan.programs[1]).send(0, block(Buffer::send, part), part);
    ProgramBuilder(plan.programs[0]).receive(1, block(Buffer::receive, part), part);
  }
  DataSizes sizes = sized(80);
  sizes.element_bytes = 8;
  const SimulationResult result = simulate(plan, sizes, unit_network());
  ASSERT_EQ(result.problem, "");
  ASSERT_EQ(result.events.size(), 3U);
  EXPECT_EQ(result.events[0].bytes, 24U);
  EXPECT_EQ(result.events[1].bytes, 24U);
  EXPECT_EQ(result.events[2].bytes, 32U);
}

TEST(Simulator, RunsAgainWithOtherArrivalsAndTheSameResultForTheSame) {
  PlanRequest request;
  request.ranks = 48;
  const Plan plan = make_plan(*find_algorithm(Collective::gather, "binomial"), request);
  Simulation simulation(plan.header, sized(1000));
  for (const Program& program : plan.programs) simulation.add(program);
  SimulationOptions options;
  options.network.hockney = {1e-5, 1e-8};
  const PatternResult pattern = pattern_from_text("uniform:0.001:3", 48, 0);
  options.arrivals = pattern.pattern.times;
  const SimulationResult first = simulation.run(options);
  options.arrivals = {};
  const SimulationResult flat = simulation.run(options);
  options.arrivals = pattern.pattern.times;
  EXPECT_EQ(simulation.run(options).exits, first.exits);
  EXPECT_NE(flat.exits, first.exits);
}

TEST(Simulator, EveryAlgorithmOfTheTableRunsToItsEnd) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Rank ranks : {1, 2, 3, 8, 13}) {
      PlanRequest request;
      request.ranks = ranks;
      request.root = has_root(algorithm.collective) ? ranks / 2 : 0;
      request.segments = algorithm.arrivals ? 4 : 1;
      if (!check_request(algorithm, request).empty()) continue;
      SimulationOptions options;
      options.network.hockney = {1e-5, 1e-8};
      options.compute.combine_per_byte = 1e-9;
      const Plan plan = make_plan(algorithm, request);
      for (const bool blocking : {false, true}) {
        // Blocking calls of programs that are not ordered for them may wait in a circle.
        if (blocking && algorithm.collective != Collective::gather) continue;
        options.blocking = blocking;
        const SimulationResult result = simulate(plan, sized(4096), options);
        EXPECT_EQ(result.problem, "")
            << name_of(algorithm.collective) << ' ' << algorithm.name << ", " << ranks << " ranks";
        EXPECT_EQ(result.run_time > 0, ranks > 1);
      }
    }
  }
}

// Messages that come before their receive is posted are combined when it is, and once.
TEST(Simulator, EagerMessagesEndEveryProgramWhoeverIsLate) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Rank ranks : {4, 12, 24}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const PatternResult late =
            pattern_from_text("uniform:0.001:" + std::to_string(seed), ranks, 0);
        PlanRequest request;
        request.ranks = ranks;
        request.segments = algorithm.segments ? 16 : 1;
        if (algorithm.arrivals) request.arrivals = late.pattern.times;
        request.round_time = 1e-4;
        request.in_order = seed % 2 == 0;
        if (!check_request(algorithm, request).empty()) continue;
        SimulationOptions options;
        options.network.hockney = {1e-5, 1e-8};
        options.network.eager_bytes = 1 << 30;
        options.arrivals = late.pattern.times;
        const SimulationResult result =
            simulate(make_plan(algorithm, request), sized(1 << 20), options);
        EXPECT_EQ(result.problem, "")
            << name_of(algorithm.collective) << ' ' << algorithm.name << ", " << ranks << " ranks";
      }
    }
  }
}

TEST(Simulator, SaysWhatIsWrongWithProgramsThatCannotRun) {
  Plan alone = blocks_plan(2);
  ProgramBuilder(alone.programs[0]).send(1, block(Buffer::send, 0), 0);
  EXPECT_EQ(simulate(alone, sized(1), {}).problem,
            "rank 0, step 0 (send) has no step at the other end of its message");

  Plan circle = blocks_plan(2);
  for (const Rank rank : {0, 1}) {
    ProgramBuilder build(circle.programs[static_cast<std::size_t>(rank)]);
    const StepIndex received[] = {
        build.receive(1 - rank, block(Buffer::receive, static_cast<Unit>(1 - rank)), 0)};
    build.send(1 - rank, block(Buffer::send, static_cast<Unit>(rank)), 0, Gate::on_arrival,
               received);
  }
  EXPECT_EQ(simulate(circle, sized(1), {}).problem,
            "the programs cannot end: rank 0 waits forever with a receive of round 0");

  Plan stranger = blocks_plan(2);
  ProgramBuilder(stranger.programs[0]).send(7, block(Buffer::send, 0), 0);
  EXPECT_EQ(simulate(stranger, sized(1), {}).problem,
            "rank 0, step 0 (send) names no rank as its peer");
}

TEST(Simulator, RefusesNumbersThatMakeNoSense) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions options;
  options.network.hockney.alpha = -1;
  EXPECT_NE(simulate(plan, sized(1), options).problem, "");
  options.network.hockney.alpha = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(simulate(plan, sized(1), options).problem, "");
  options.network.hockney.alpha = 0;
  const std::vector<double> one = {0};
  options.arrivals = one;
  EXPECT_EQ(simulate(plan, sized(1), options).problem, "there are 1 arrival times for 2 ranks");
}

}  // namespace
}  // namespace sibyl
