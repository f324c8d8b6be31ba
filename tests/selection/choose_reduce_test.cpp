// Clairvoyant's segments and when it is chosen, from costs and the spread of arrivals.
#include "selection/choose_reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sibyl::test {
namespace {

// A slow network: 20 Mbit/s.
constexpr Costs slow{.alpha = 3e-4, .overhead = 2e-4, .beta = 4e-7, .gamma = 1e-10};

// One rank comes so many seconds after all others.
Situation reduce_of(std::uint64_t bytes, double late, Rank ranks = 8) {
  Situation now;
  now.collective = Collective::reduce;
  now.ranks = ranks;
  now.bytes = bytes;
  now.operator_use = OperatorUse::predefined;
  now.spread = now.lead = late;
  now.costs = slow;
  return now;
}

const Algorithm* clairvoyant() { return find_algorithm(Collective::reduce, "clairvoyant"); }

TEST(ChooseReduce, SegmentsGrowWithTheVectorAndAreThoseThatWereSet) {
  std::uint32_t previous = 1;
  for (const std::uint64_t bytes : {8ULL, 1ULL << 16, 1ULL << 20, 1ULL << 26, 1ULL << 33}) {
    const SegmentPlan plan = plan_segments(Settings{}, reduce_of(bytes, 0, 48));
    EXPECT_GE(plan.segments, previous);
    previous = plan.segments;
    Settings settings;
    settings.segments = 17;
    EXPECT_EQ(plan_segments(settings, reduce_of(bytes, 0, 48)).segments, 17U);
  }
  EXPECT_EQ(plan_segments(Settings{}, reduce_of(8, 0)).segments, 1U);
  EXPECT_GT(previous, 32U);
}

// No other number of segments is much better by the formula in the file.
TEST(ChooseReduce, SegmentsAreNearTheLeastOfTheModel) {
  for (const std::uint64_t bytes : {1ULL << 14, 1ULL << 18, 1ULL << 21}) {
    const double fixed = slow.overhead;
    const double moving = (slow.beta + slow.gamma) * static_cast<double>(bytes);
    const auto time = [&](double n) { return slow.alpha + (n + 9) * (fixed + moving / n); };
    const double best = std::clamp(std::sqrt(9 * moving / fixed), 1.0, 256.0);
    const SegmentPlan plan = plan_segments(Settings{}, reduce_of(bytes, 0));
    EXPECT_LE(plan.whole_time, 1.06 * time(best)) << bytes;
    EXPECT_GE(plan.segments, best / 2) << bytes;
    EXPECT_DOUBLE_EQ(plan.whole_time, time(plan.segments));
    EXPECT_DOUBLE_EQ(plan.round_time, fixed + moving / plan.segments);
  }
}

// 100 Mbit/s, as measured while other work ran on the processors and as it is.
TEST(ChooseReduce, SegmentsAreSentAtOnceWhereThatCostsLittle) {
  Situation now = reduce_of(1 << 20, 0);
  now.costs = {.alpha = 7e-4, .overhead = 5e-4, .beta = 8e-8, .gamma = 1e-10, .fifo_links = true};
  EXPECT_EQ(plan_segments(Settings{}, now).segments, 64U);  // of 16 KiB
  now.costs.overhead = 1e-4;
  EXPECT_GT(plan_segments(Settings{}, now).segments, 64U);
  now.costs.overhead = 5e-3;
  EXPECT_LT(plan_segments(Settings{}, now).segments, 64U);
  now.costs.overhead = 1e-3;
  now.ranks_per_node = now.ranks;  // memory carries long messages as it does short ones
  EXPECT_LT(plan_segments(Settings{}, now).segments, 64U);
}

TEST(ChooseReduce, FewerSegmentsWhereMessagesAreDear) {
  Situation now = reduce_of(1 << 20, 0);
  const std::uint32_t cheap = plan_segments(Settings{}, now).segments;
  now.costs.overhead *= 100;
  EXPECT_LT(plan_segments(Settings{}, now).segments, cheap);
}

// Between nodes its pipeline wins on ranks that arrive together, too.
TEST(ChooseReduce, LeavesSmallVectorsToTheLibrary) {
  const Settings open;
  EXPECT_EQ(choose(open, reduce_of(1 << 18, 0)), clairvoyant());
  EXPECT_EQ(choose(open, reduce_of(1 << 18, 0.001)), clairvoyant());
  EXPECT_EQ(choose(open, reduce_of(8, 0)), nullptr);
  EXPECT_EQ(choose(open, reduce_of(8, 1)), nullptr);
}

TEST(ChooseReduce, MeasuresCostsWhereTheyMayDecide) {
  const Settings open;
  EXPECT_TRUE(wants_costs(open, reduce_of(8, 1)));
  EXPECT_TRUE(wants_costs(open, reduce_of(1 << 18, 0)));
  EXPECT_FALSE(wants_costs(open, reduce_of(1 << 10, 0)));
  Situation now = reduce_of(1 << 18, 0);
  now.ranks_per_node = now.ranks;
  EXPECT_FALSE(wants_costs(open, now));
  EXPECT_EQ(choose(open, now), nullptr);
}

// Within a node a vector is copied, not sent; only lateness speaks for Clairvoyant there.
TEST(ChooseReduce, WithinANodeOneRankMustBeLaterThanAReduceTakes) {
  Situation now = reduce_of(1 << 18, 1);
  now.ranks_per_node = now.ranks;
  const double whole = plan_segments(Settings{}, now).whole_time;
  now.spread = now.lead = 0.99 * whole;
  EXPECT_EQ(choose(Settings{}, now), nullptr);
  now.spread = now.lead = 1.01 * whole;
  EXPECT_EQ(choose(Settings{}, now), clairvoyant());
  now.spread = 3 * whole;  // and others are as late
  EXPECT_EQ(choose(Settings{}, now), nullptr);
}

TEST(ChooseReduce, NeedsCostsACommutingOperatorAndAFreeHand) {
  Situation now = reduce_of(1 << 18, 10);
  EXPECT_TRUE(wants_costs(Settings{}, now));
  now.commutes = false;
  EXPECT_FALSE(wants_costs(Settings{}, now));
  EXPECT_EQ(choose(Settings{}, now), nullptr);
  now = reduce_of(1 << 18, 10);
  now.costs = {};
  EXPECT_EQ(choose(Settings{}, now), nullptr);
  Settings native;
  native.algorithm[static_cast<std::size_t>(Collective::reduce)] = serve_natively;
  EXPECT_FALSE(wants_costs(native, now));
  EXPECT_EQ(choose(native, reduce_of(1 << 18, 10)), nullptr);
}

// Who is said to be very late is so by half a reduce in the schedule: it may be wrong.
TEST(ChooseReduce, ArrivalsAreDrawnTogetherThatAreFarApart) {
  const double round = plan_segments(Settings{}, reduce_of(1 << 18, 0)).round_time;
  EXPECT_EQ(plan_segments(Settings{}, reduce_of(1 << 18, round)).round_time, round);
  for (const double spread : {1.0, 1e6}) {
    const SegmentPlan plan = plan_segments(Settings{}, reduce_of(1 << 18, spread));
    EXPECT_DOUBLE_EQ(spread / plan.round_time, 0.5 * (plan.segments + 9));
  }
}

// Wherever their ranks lie: a vector leaves a node once. Within one node it is the library's.
TEST(ChooseReduce, NodesOfSeveralRanksHaveTwoLevels) {
  Situation now = reduce_of(1 << 22, 0);
  const auto name = [&] {
    const Algorithm* chosen = choose_reduce(Settings{}, now);
    return chosen == nullptr ? "native" : chosen->name;
  };
  EXPECT_EQ(name(), "clairvoyant");
  now.ranks_per_node = 2;
  EXPECT_EQ(name(), "two-level");
  now.ranks_per_node = 1;
  now.nodes = 3;  // ranks lie anyhow
  EXPECT_EQ(name(), "two-level");
  now.commutes = false;
  EXPECT_EQ(name(), "native");
  now.commutes = true;
  now.nodes = 1;
  EXPECT_EQ(name(), "native");
  now.nodes = 0;
  now.ranks_per_node = now.ranks;
  EXPECT_EQ(name(), "native");
}

// As if each node were one rank.
TEST(ChooseReduce, SegmentsOfTwoLevelsAreThoseOfTheNodes) {
  Situation now = reduce_of(1 << 22, 0);
  const SegmentPlan between = plan_segments(Settings{}, now);
  const Rank nodes = now.ranks;
  now.ranks *= 4;
  now.ranks_per_node = 4;
  const Algorithm& row = *find_algorithm(Collective::reduce, "two-level");
  const SegmentPlan found = segments_for(Settings{}, row, now);
  EXPECT_EQ(now.node_count(), nodes);
  EXPECT_EQ(found.segments, between.segments);
  EXPECT_EQ(found.round_time, between.round_time);
}

// Whoever shares links, or has to wait long for a message beside what it takes to carry one.
TEST(ChooseReduce, OrderIsKeptWhereLinksCarryMessagesInTurn) {
  Situation now = reduce_of(1 << 20, 0);
  EXPECT_FALSE(plan_segments(Settings{}, now).in_order);
  const SegmentPlan any = plan_segments(Settings{}, now);
  now.costs.fifo_links = true;
  const SegmentPlan plan = plan_segments(Settings{}, now);
  EXPECT_TRUE(plan.in_order);
  EXPECT_LT(plan.whole_time, any.whole_time);
  EXPECT_LE(plan.segments, any.segments);

  // The most that are nearly as good as the best.
  for (const std::uint32_t segments : {16U, 32U, 64U, 96U, 128U, 192U, 256U, 384U, 512U}) {
    Settings fixed;
    fixed.segments = segments;
    const SegmentPlan other = plan_segments(fixed, now);
    EXPECT_LE(plan.whole_time, 1.05 * other.whole_time) << segments;
    if (segments > plan.segments) {
      EXPECT_GT(other.whole_time, plan.whole_time) << segments;
    }
  }

  Situation one_node = now;
  one_node.ranks_per_node = now.ranks;
  EXPECT_FALSE(plan_segments(Settings{}, one_node).in_order);
  Situation far = now;
  far.costs.alpha = 3 * plan.round_time;
  Settings as_many;
  as_many.segments = plan.segments;
  EXPECT_TRUE(plan_segments(as_many, now).in_order);
  EXPECT_FALSE(plan_segments(as_many, far).in_order);
}

// Unless it was asked for: then, where links carry messages in turn, whoever comes long before the
// last may leave before it has come.
TEST(ChooseReduce, ArrivalsAreFollowedWhereOneComesLongAfterAllOthers) {
  for (const bool fifo_links : {false, true}) {
    Situation now = reduce_of(1 << 20, 0);
    now.costs.fifo_links = fifo_links;
    const SegmentPlan plan = plan_segments(Settings{}, now);
    EXPECT_TRUE(plan.together);
    Settings by_name;
    by_name.algorithm[static_cast<std::size_t>(Collective::reduce)] =
        static_cast<std::int32_t>(clairvoyant() - algorithms(Collective::reduce).data());
    EXPECT_EQ(plan_segments(by_name, now).together, fifo_links);

    now.lead = (fifo_links ? 1 : 0.5) * plan.whole_time;
    now.spread = 1.9 * now.lead;
    EXPECT_TRUE(plan_segments(Settings{}, now).together);
    EXPECT_EQ(plan_segments(Settings{}, now).round_time, plan.round_time);
    EXPECT_FALSE(plan_segments(by_name, now).together);
    now.lead *= 1.01;
    EXPECT_FALSE(plan_segments(Settings{}, now).together);
    EXPECT_GT(plan_segments(Settings{}, now).round_time, plan.round_time);
    now.spread = 2.1 * now.lead;  // others are as late
    EXPECT_TRUE(plan_segments(Settings{}, now).together);

    now.spread = now.lead = plan.whole_time;
    EXPECT_EQ(plan_segments(by_name, now).together, fifo_links);
  }
}

}  // namespace
}  // namespace sibyl::test
