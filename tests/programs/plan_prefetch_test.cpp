// Schedules made ahead: those of the request and of no other, however much of them was made before
// and by whom.
#include "programs/plan_prefetch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace sibyl::test {
namespace {

PlanRequest request_for(std::span<const double> arrivals, Rank ranks, std::uint32_t segments) {
  PlanRequest request;
  request.ranks = ranks;
  request.segments = segments;
  request.arrivals = arrivals;
  return request;
}

std::vector<double> staggered(Rank ranks) {
  std::vector<double> times;
  for (Rank r = 0; r < ranks; ++r) times.push_back(r * 7 % ranks * 1.5);
  return times;
}

void expect_whole(const ClairvoyantSchedule* found, const PlanRequest& request) {
  ASSERT_NE(found, nullptr);
  const std::vector<double> flat(static_cast<std::size_t>(request.ranks), 0.0);
  ClairvoyantRequest same;
  same.arrivals = request.arrivals.empty() ? std::span(flat) : request.arrivals;
  same.segments = request.segments;
  same.round_time = request.round_time;
  const ClairvoyantSchedule whole = make_clairvoyant(ClairvoyantGenerator::fast, same);
  EXPECT_TRUE(std::ranges::equal(found->events.view(), whole.events.view()));
}

TEST(PlanPrefetch, IsWholeHoweverMuchWasMadeBefore) {
  const std::vector<double> times = staggered(40);
  const PlanRequest request = request_for(times, 40, 20);
  PlanPrefetch ahead;
  for (const int advances : {0, 1, 5, 1000000}) {
    ahead.begin(request);
    for (int i = 0; i < advances && ahead.advance(); ++i) {
    }
    expect_whole(ahead.find(request), request);
    EXPECT_FALSE(ahead.advance());
  }
  EXPECT_GT(ahead.rounds_made(), 6U);
}

TEST(PlanPrefetch, IsOfItsRequestOnly) {
  const std::vector<double> times = staggered(9);
  const PlanRequest request = request_for(times, 9, 6);
  PlanPrefetch ahead;
  EXPECT_EQ(ahead.find(request), nullptr);
  EXPECT_FALSE(ahead.advance());
  ahead.begin(request);
  const auto differs = [&](auto change) {
    PlanRequest other = request;
    change(other);
    EXPECT_EQ(ahead.find(other), nullptr);
  };
  std::vector<double> later = times;
  later.back() += 1;
  differs([](PlanRequest& other) { other.root = 3; });
  differs([](PlanRequest& other) { other.segments = 7; });
  differs([](PlanRequest& other) { other.round_time = 2; });
  differs([](PlanRequest& other) { other.root_order = RootOrder::availability; });
  differs([&](PlanRequest& other) { other.arrivals = later; });
  differs([](PlanRequest& other) { other.arrivals = {}; });
  expect_whole(ahead.find(request), request);
  ahead.drop();
  EXPECT_FALSE(ahead.holds());
  EXPECT_EQ(ahead.find(request), nullptr);
}

TEST(PlanPrefetch, NeedsNoArrivals) {
  const PlanRequest request = request_for({}, 12, 8);
  PlanPrefetch ahead;
  ahead.begin(request);
  EXPECT_TRUE(ahead.advance());
  expect_whole(ahead.find(request), request);
}

TEST(PlanPrefetch, ARequestThatCannotBeServedIsNotFound) {
  const std::vector<double> times{0, -1, 2};
  const PlanRequest request = request_for(times, 3, 4);
  PlanPrefetch ahead;
  ahead.begin(request);
  EXPECT_FALSE(ahead.holds());
  EXPECT_FALSE(ahead.advance());
  EXPECT_EQ(ahead.find(request), nullptr);
}

TEST(PlanPrefetch, AThreadMayMakeItMeanwhile) {
  const std::vector<double> times = staggered(60);
  PlanPrefetch ahead;
  for (std::uint32_t segments = 10; segments < 40; segments += 3) {
    const PlanRequest request = request_for(times, 60, segments);
    ahead.begin(request);
    std::thread other([&] {
      while (ahead.advance()) {
      }
    });
    for (int i = 0; i < 20; ++i) ahead.advance();
    expect_whole(ahead.find(request), request);
    other.join();
  }
}

}  // namespace
}  // namespace sibyl::test
