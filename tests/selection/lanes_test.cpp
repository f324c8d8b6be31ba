// How many lanes a plan on two levels has, from what ranks of a node can do at a time.
#include "selection/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sibyl::test {
namespace {

constexpr Rank per_node = 16;

// One rank fills a node's link; what its ranks combine at a time is as much as they are.
constexpr Costs many_processors{.alpha = 2e-6,
                                .overhead = 5e-7,
                                .beta = 3.5e-10,
                                .gamma = 1e-10,
                                .fold = 2e-10,
                                .fold_together = 2e-10,
                                .overhead_together = 5e-7,
                                .beta_together = per_node * 3.5e-10};

Situation on_nodes(Collective collective, const Costs& costs, std::uint64_t bytes = 4 << 20) {
  Situation now;
  now.collective = collective;
  now.ranks = 35 * per_node;
  now.ranks_per_node = per_node;
  now.bytes = bytes;
  now.operator_use = OperatorUse::predefined;
  now.costs = costs;
  return now;
}

SegmentPlan plan_of(const Situation& now, const Settings& settings = {}) {
  return segments_for(settings, *find_algorithm(now.collective, "two-level"), now);
}

TEST(Lanes, AreAsManyAsCombineAtATime) {
  for (const Collective of : {Collective::reduce, Collective::allreduce}) {
    EXPECT_EQ(plan_of(on_nodes(of, many_processors)).lanes, 16U) << name_of(of);
  }
}

TEST(Lanes, AreOneWhereANodeDoesNoMoreWithAllOfItsRanks) {
  Costs one_processor = many_processors;
  one_processor.fold_together = per_node * one_processor.fold;
  for (const Collective of : {Collective::reduce, Collective::allreduce, Collective::bcast}) {
    EXPECT_EQ(plan_of(on_nodes(of, one_processor)).lanes, 1U) << name_of(of);
  }
}

// A bcast of which nothing is added up, over links that one rank does not fill.
TEST(Lanes, AreSeveralWhereOneRankDoesNotFillALink) {
  Costs wide = many_processors;
  wide.fold = wide.fold_together = wide.gamma;
  EXPECT_EQ(plan_of(on_nodes(Collective::bcast, wide)).lanes, 1U);
  wide.beta_together = wide.beta;
  EXPECT_EQ(plan_of(on_nodes(Collective::bcast, wide)).lanes, 16U);
}

TEST(Lanes, OfShortVectorsAreFew) {
  EXPECT_LE(plan_of(on_nodes(Collective::reduce, many_processors, 64)).lanes, 2U);
}

TEST(Lanes, AreThoseThatWereSetUpToANodesRanks) {
  Settings settings;
  settings.lanes = 3;
  EXPECT_EQ(plan_of(on_nodes(Collective::reduce, many_processors), settings).lanes, 3U);
  settings.lanes = 128;
  EXPECT_EQ(plan_of(on_nodes(Collective::reduce, many_processors), settings).lanes, 16U);
}

TEST(Lanes, AreOneWhereNothingIsKnown) {
  EXPECT_EQ(plan_of(on_nodes(Collective::reduce, Costs{})).lanes, 1U);
}

// A node of one rank leads all lanes, a rank's messages to another being those of all of them.
TEST(Lanes, AreAsManyAsThereAreTagsForOnUnevenNodes) {
  Placement uneven{.nodes = std::vector<Rank>(1 + 15 + 16, 1), .count = 3};
  uneven.nodes[0] = 0;
  std::fill(uneven.nodes.begin() + 16, uneven.nodes.end(), 2);
  for (const Collective of : {Collective::reduce, Collective::allreduce, Collective::bcast}) {
    SCOPED_TRACE(name_of(of));
    const Algorithm& two_level = *find_algorithm(of, "two-level");
    Situation now = on_nodes(of, many_processors);
    now.ranks = 32;
    now.ranks_per_node = 1;
    now.nodes = 3;
    Settings settings;
    settings.lanes = 8;
    settings.segments = 128;
    const auto span = [&](const SegmentPlan& plan) {
      PlanRequest request;
      request.ranks = now.ranks;
      request.segments = plan.segments;
      request.lanes = plan.lanes;
      place(two_level, uneven, request);
      return static_cast<std::int64_t>(two_level.describe(request).tag_span);
    };
    const auto cut = [&](std::int64_t tags) {
      return segments_within(settings, two_level, now, 1 << 20, uneven, tags);
    };
    const SegmentPlan all = cut(4096);
    EXPECT_EQ(all.lanes, 8U);
    ASSERT_GT(span(all), 512);
    const SegmentPlan fewer = cut(512);
    EXPECT_LE(span(fewer), 512);
    EXPECT_EQ(fewer.lanes, 512 * 8 / span(all));
    EXPECT_EQ(cut(1).lanes, 1U);
  }
}

TEST(Lanes, HaveAnElementForEachOfTheirSegments) {
  const SegmentPlan cut = SegmentPlan{.segments = 32, .lanes = 16}.of_elements(40);
  EXPECT_EQ(cut.lanes, 16U);
  EXPECT_EQ(cut.segments, 2U);
  EXPECT_EQ(cut.of_elements(5).lanes, 5U);
  EXPECT_EQ(cut.of_elements(5).segments, 1U);
}

}  // namespace
}  // namespace sibyl::test
