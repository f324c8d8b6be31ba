// Messages that share ports, and a queue that loses some, on programs small enough to be counted.
#include <gtest/gtest.h>

#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/by_hand.hpp"

namespace sibyl {
namespace {

// alpha 1, beta 1/2; nothing is one-ported.
SimulationOptions shared_network() {
  SimulationOptions options = unit_network();
  options.network.sharing = true;
  return options;
}

// Of blocks with these bytes by the rank that sends.
SimulationResult run(const Plan& plan, const std::vector<std::uint64_t>& blocks,
                     const SimulationOptions& options) {
  DataSizes sizes;
  sizes.block_bytes = blocks;
  return simulate(plan, sizes, options);
}

TEST(Sharing, MessagesThatAreReadyTogetherEndTogether) {
  Plan plan = blocks_plan(3);
  message(plan, 1, 0);
  message(plan, 2, 0);
  EXPECT_EQ(simulate(plan, sized(6), unit_network()).exits, (std::vector<double>{8, 4, 8}));
  const SimulationResult result = simulate(plan, sized(6), shared_network());
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.exits, (std::vector<double>{7, 7, 7}));
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].begin, 0);
  EXPECT_EQ(result.events[0].end, 7);
}

TEST(Sharing, WhatOneLeavesTheOtherTakes) {
  Plan plan = blocks_plan(3);
  message(plan, 1, 0);
  message(plan, 2, 0);
  EXPECT_EQ(run(plan, {0, 2, 6}, shared_network()).exits, (std::vector<double>{5, 3, 5}));
  SimulationOptions later = shared_network();
  const std::vector<double> arrivals = {0, 0, 2};
  later.arrivals = arrivals;
  // Rank 1 has the port for itself until 3, when 1 of its 3 s is left, and half of it until 5.
  EXPECT_EQ(run(plan, {0, 6, 6}, later).exits, (std::vector<double>{7, 5, 7}));
}

TEST(Sharing, SharesAreMaxMinFair) {
  Plan plan = blocks_plan(5);
  message(plan, 0, 3);
  message(plan, 1, 3);
  message(plan, 2, 3);
  message(plan, 2, 4);
  // A third each into rank 3, which takes 9 s; the other message of rank 2 has the two thirds that
  // are left of its port, and takes 4.5 s.
  const SimulationResult result = simulate(plan, sized(6), shared_network());
  ASSERT_EQ(result.problem, "");
  EXPECT_NEAR(result.exits[4], 1 + 4.5, 1e-12);
  EXPECT_NEAR(result.exits[3], 1 + 9, 1e-12);
  EXPECT_NEAR(result.exits[2], 1 + 9, 1e-12);
}

TEST(Sharing, MessagesOfOneConnectionGoOneAfterTheOther) {
  Plan plan = blocks_plan(2);
  for (const Unit unit : {0, 1}) {
    ProgramBuilder(plan.programs[1]).send(0, block(Buffer::send, 1), unit);
    ProgramBuilder(plan.programs[0]).receive(1, block(Buffer::receive, unit), unit);
  }
  const SimulationResult result = simulate(plan, sized(6), shared_network());
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.events[0].end, 4);
  EXPECT_EQ(result.events[1].end, 7);  // its latency passed meanwhile
}

TEST(Sharing, WhoWaitsForItsReceiverAsksItFirst) {
  Plan plan = blocks_plan(2);
  message(plan, 1, 0);
  SimulationOptions asking = shared_network();
  asking.network.handshake = true;
  // Announced, answered, and then a message as any other.
  EXPECT_EQ(simulate(plan, sized(6), asking).exits, (std::vector<double>{6, 6}));
  const std::vector<double> receiver_late = {5, 0};
  asking.arrivals = receiver_late;  // what was announced is answered at once
  EXPECT_EQ(simulate(plan, sized(6), asking).exits, (std::vector<double>{10, 10}));
  asking.network.eager_bytes = 6;
  EXPECT_EQ(simulate(plan, sized(6), asking).exits, (std::vector<double>{5, 4}));
}

TEST(Sharing, WhoSendsAnswersBehindIt) {
  Plan plan = blocks_plan(2);
  message(plan, 0, 1);
  message(plan, 1, 0);
  SimulationOptions asking = shared_network();
  EXPECT_EQ(simulate(plan, sized(6), asking).exits, (std::vector<double>{4, 4}));
  asking.network.handshake = true;
  // Rank 1 answers at 1, and rank 0's message is out at 6; what rank 1 has announced waits until
  // then for its answer.
  const SimulationResult result = simulate(plan, sized(6), asking);
  EXPECT_EQ(result.exits, (std::vector<double>{11, 11}));
  asking.network.eager_bytes = 6;
  EXPECT_EQ(simulate(plan, sized(6), asking).exits, (std::vector<double>{4, 4}));
}

TEST(Sharing, AHandshakeIsForMessagesThatShare) {
  SimulationOptions options = unit_network();
  options.network.handshake = true;
  EXPECT_EQ(check_options(options, 2), "a handshake is for messages that share ports");
}

TEST(Sharing, AQueueLosesWhatDoesNotFitAndTheSenderWaitsForItsTimeout) {
  Plan plan = blocks_plan(4);
  for (const Rank rank : {1, 2, 3}) message(plan, rank, 0);
  SimulationOptions options = shared_network();
  options.network.hockney = {0, 1};
  options.network.at_switch = {10000, 8000, 1 << 20};
  // One's window is on the wire, one's in the queue; the third finds 2000 bytes of room.
  const SimulationResult result = simulate(plan, sized(8000), options);
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.lost, 1U);
  EXPECT_EQ(result.exits[1], 16000);
  EXPECT_EQ(result.exits[2], 16000);
  EXPECT_EQ(result.exits[3], (1 << 20) + 8000);
  // Spread in time they do not collide.
  const std::vector<double> arrivals = {0, 0, 8000, 16000};
  options.arrivals = arrivals;
  const SimulationResult spread = simulate(plan, sized(8000), options);
  EXPECT_EQ(spread.lost, 0U);
  EXPECT_EQ(spread.run_time, 24000);
}

TEST(Sharing, ALossThatIsNoticedCostsNoTimeout) {
  Plan plan = blocks_plan(4);
  for (const Rank rank : {1, 2, 3}) message(plan, rank, 0);
  SimulationOptions options = shared_network();
  options.network.hockney = {0, 1};
  options.network.at_switch = {8000 + SwitchModel::noticed_bytes, 8000, 1 << 20};
  const SimulationResult result = simulate(plan, sized(8000), options);
  EXPECT_EQ(result.lost, 0U);
  EXPECT_NEAR(result.run_time, 24000, 1e-6);
}

TEST(Sharing, WhoIsLostAgainWaitsTwiceAsLong) {
  Plan plan = blocks_plan(5);
  for (const Rank rank : {1, 2, 3, 4}) message(plan, rank, 0);
  SimulationOptions options = shared_network();
  options.network.hockney = {0, 1};
  options.network.at_switch = {10000, 8000, 1000};
  // When rank 3 is lost, ranks 1 and 2 halve what they send ahead, so that rank 4 has room, and
  // rank 3 none at 1000, 3000, 7000 and 15000. At 31000 it is alone.
  const SimulationResult result = simulate(plan, sized(8000), options);
  EXPECT_EQ(result.lost, 5U);
  EXPECT_NEAR(result.exits[4], 24000, 1e-6);
  EXPECT_NEAR(result.exits[3], 39000, 1e-6);
}

TEST(Sharing, WhatMakesNoSenseIsRefused) {
  SimulationOptions options = unit_network();
  options.network.at_switch.queue_bytes = 1 << 16;
  EXPECT_NE(check_options(options, 2), "");
  options.network.sharing = true;
  EXPECT_EQ(check_options(options, 2), "");
  options.network.at_switch.queue_bytes = 100;
  EXPECT_NE(check_options(options, 2), "");
  options.network.at_switch = {};
  options.network.kind = NetworkKind::loggp;
  EXPECT_NE(check_options(options, 2), "");
  options.network.kind = NetworkKind::hockney;
  options.network.link_beta = 1;
  EXPECT_EQ(check_options(options, 2), "");
  options.network.hockney.beta = 0;  // then a message would be over before it takes the link
  EXPECT_NE(check_options(options, 2), "");
  options.network.sharing = false;
  EXPECT_EQ(check_options(options, 2), "");
}

TEST(Sharing, APlanWhoseMessagesNeverMeetTakesAsLongAsOnPorts) {
  PlanRequest request;
  request.ranks = 13;
  const Plan plan = make_plan(*find_algorithm(Collective::exscan, "123-doubling"), request);
  SimulationOptions options = unit_network();
  options.blocking = true;  // else a rank sends several at once
  const SimulationResult ports = simulate(plan, sized(8), options);
  options.network.sharing = true;
  const SimulationResult shared = simulate(plan, sized(8), options);
  EXPECT_EQ(shared.run_time, ports.run_time);
  EXPECT_EQ(shared.bytes, ports.bytes);
}

}  // namespace
}  // namespace sibyl
