// The reference gives the examples of the papers and keeps the promises of its header; the others
// do as it does (generators_agree_test.cpp for many).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "planners/clairvoyant/membership.hpp"
#include "planners/clairvoyant/schedules.hpp"
#include "sibyl/clairvoyant.hpp"

namespace sibyl {
namespace {

TEST(Clairvoyant, TheExampleOfSection42) {
  const std::vector arrivals{0.0, 0.0, 0.0, 1.1};
  const Events events = schedule(Generator::linear, {arrivals, 4, 1.0, 0});
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events[0], (ClairvoyantEvent{0, 1, 0, 0}));
  EXPECT_EQ(events[1], (ClairvoyantEvent{0, 0, 1, 1}));
  EXPECT_EQ(events[2], (ClairvoyantEvent{1, 2, 0, 0}));
  EXPECT_EQ(events[3], (ClairvoyantEvent{1, 3, 1, 1}));
  // What the additional state forbids: to send on in round 1 what was received in round 1.
  for (const ClairvoyantEvent& event : events) {
    if (event.round == 1) {
      EXPECT_FALSE(event.segment == 0 && event.sender == 0);
      EXPECT_FALSE(event.segment == 1 && event.sender == 1);
    }
  }
}

// Figure 1: one process arrives per round, 6 segments. Row s lists the rounds in which segment s is
// sent, the process in the first column first; the figure counts rounds from 1 and ends at 11.
TEST(Clairvoyant, TheSegmentsAndRoundsOfFigure1) {
  std::vector<double> arrivals(16);
  for (std::size_t i = 0; i < arrivals.size(); ++i) arrivals[i] = static_cast<double>(i);
  const Events events = schedule(Generator::linear, {arrivals, 6, 1.0, 15});
  const std::vector<std::vector<std::uint32_t>> figure{
      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {1, 2, 4, 6, 8, 10, 11},
      {2, 3, 4, 5, 6, 7, 8, 9, 10, 11},    {3, 3, 5, 6, 7, 8, 9, 10, 11},
      {4, 4, 5, 7, 8, 9, 10, 11},          {5, 5, 6, 7, 9, 10, 11}};
  for (std::uint32_t segment = 0; segment < 6; ++segment) {
    std::vector<std::uint32_t> rounds;
    for (const ClairvoyantEvent& event : events) {
      if (event.segment == segment && event.round < 11) rounds.push_back(event.round + 1);
    }
    EXPECT_EQ(rounds, figure[segment]) << "segment " << segment;
  }
}

TEST(Clairvoyant, IdleRoundsAreSkippedAndCounted) {
  const std::vector arrivals{0.0, 1.0, 2.0, 3.0};
  for (const Generator generator : clairvoyant_generators()) {
    const Events events = schedule(generator, {arrivals, 1, 0.001, 0});
    ASSERT_EQ(events.size(), 3U);
    const double d = 0.001;
    for (std::uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(events[i].sender, static_cast<Rank>(i + 1));
      // Whether an arrival lies on the limit is decided by the exact value of 0.001.
      EXPECT_EQ(events[i].round,
                static_cast<std::uint32_t>(std::ceil(static_cast<long double>(i + 1) / d)) - 1);
    }
  }
}

TEST(Clairvoyant, OneProcessOrNoSegmentHasNoEvents) {
  for (const Generator generator : clairvoyant_generators()) {
    EXPECT_TRUE(schedule(generator, {std::vector{1.0}, 4, 1.0, 0}).empty());
    EXPECT_TRUE(schedule(generator, {std::vector{1.0, 0.0}, 0, 1.0, 0}).empty());
    EXPECT_EQ(schedule(generator, {std::vector{1.0, 0.0}, 1, 1.0, 0}).size(), 1U);
  }
}

// A member exactly one round behind the head stands last, though its place is next to the head's.
TEST(Clairvoyant, WhoIsExactlyOneRoundBehindIsSoughtLast) {
  expect_the_same({std::vector{0.0, 1.0, 0.5, 0.25}, 9, 1.0, 3});
  expect_the_same({std::vector{0.0, 1.0, 0.5, 1.0, 0.0, 1.0}, 7, 1.0, 2});
}

TEST(ClairvoyantTime, ArrivalsAreSplitExactly) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const double d = std::ldexp(static_cast<double>(random() >> 11), -60) + 1e-9;
    const double a = std::ldexp(static_cast<double>(random() >> 11), -45);
    const clairvoyant::RoundTime time = clairvoyant::split(a, d);
    ASSERT_GE(time.rest, 0);
    ASSERT_LT(time.rest, d);
    // k d + f with 64 bits of k and the exact product.
    const double product = static_cast<double>(time.whole) * d;
    const double error = std::fma(static_cast<double>(time.whole), d, -product);
    ASSERT_EQ((a - product - error) - time.rest, 0.0) << a << " " << d;
  }
}

TEST(ClairvoyantCheck, BadInputIsRefusedInOneLine) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector good{0.0, 1.0};
  const std::vector negative{0.0, -1.0};
  const std::vector not_a_number{0.0, std::nan("")};
  const std::vector endless{infinity, 0.0};
  const std::vector<double> none;
  const auto problem = [](const ClairvoyantRequest& request) {
    const std::string text = make_clairvoyant(Generator::fast, request).problem;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  };
  EXPECT_EQ(problem({good, 1, 1.0, 0}), "");
  EXPECT_NE(problem({negative, 1, 1.0, 0}).find("negative"), std::string::npos);
  EXPECT_NE(problem({not_a_number, 1, 1.0, 0}).find("not a number"), std::string::npos);
  EXPECT_NE(problem({endless, 1, 1.0, 0}).find("infinite"), std::string::npos);
  EXPECT_NE(problem({none, 1, 1.0, 0}).find("0 ranks"), std::string::npos);
  EXPECT_NE(problem({good, 1, 0.0, 0}).find("not positive"), std::string::npos);
  EXPECT_NE(problem({good, 1, -1.0, 0}).find("not positive"), std::string::npos);
  EXPECT_NE(problem({good, 1, std::nan(""), 0}).find("not a finite"), std::string::npos);
  EXPECT_NE(problem({good, 1, infinity, 0}).find("not a finite"), std::string::npos);
  EXPECT_NE(problem({good, 1, 1e-310, 0}).find("denormal"), std::string::npos);
  EXPECT_NE(problem({good, 1, 1e-300, 0}).find("2^31 rounds"), std::string::npos);
  EXPECT_NE(problem({good, 1, 1.0, 2}).find("root is 2"), std::string::npos);
  EXPECT_NE(problem({good, 1, 1.0, -1}).find("root is -1"), std::string::npos);
}

TEST(ClairvoyantCheck, SizesThatCannotFitAreRefusedWithTheFigure) {
  const std::vector<double> arrivals(65536);
  const ClairvoyantRequest request{arrivals, 1U << 26, 1.0, 0};
  for (const Generator generator : clairvoyant_generators()) {
    EXPECT_NE(check_clairvoyant(generator, request).find("GiB"), std::string::npos);
    EXPECT_NE(check_clairvoyant(generator, request, false).find("GiB"), std::string::npos);
  }
}

TEST(ClairvoyantNames, AreFoundAgain) {
  for (const Generator generator : clairvoyant_generators()) {
    Generator found = Generator::linear;
    EXPECT_TRUE(generator_from_name(name_of(generator), found));
    EXPECT_EQ(found, generator);
  }
  Generator unused = Generator::linear;
  EXPECT_FALSE(generator_from_name("slow", unused));
  RootOrder order = RootOrder::first;
  EXPECT_TRUE(root_order_from_name("availability", order));
  EXPECT_EQ(order, RootOrder::availability);
  EXPECT_FALSE(root_order_from_name("last", order));
}

}  // namespace
}  // namespace sibyl
