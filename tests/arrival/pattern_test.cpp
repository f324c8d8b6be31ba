// The shapes: what each rank's time must be, the same on every platform.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl {
namespace {

std::vector<double> times(const PatternRequest& request) {
  const PatternResult result = make_pattern(request);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.pattern.version, 0U);
  EXPECT_EQ(check_times(result.pattern.times, request.ranks), "");
  return result.pattern.times;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(SplitMix64, GivesThePublishedNumbers) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(Pattern, ShapesWithoutChanceAreWhatTheirNamesSay) {
  using Times = std::vector<double>;
  EXPECT_EQ(times({PatternShape::flat, 4, 2, 9.0}), (Times{0, 0, 0, 0}));
  EXPECT_EQ(times({PatternShape::skewed, 4, 2, 9.0}), (Times{0, 0, 0, 9}));
  EXPECT_EQ(times({PatternShape::root_late, 4, 2, 9.0}), (Times{0, 0, 9, 0}));
  EXPECT_EQ(times({PatternShape::fixed, 4, 2, 9.0}), (Times{0, 3, 6, 9}));
  EXPECT_EQ(times({PatternShape::skewed, 1, 0, 9.0}), (Times{9}));
  EXPECT_EQ(times({PatternShape::fixed, 1, 0, 9.0}), (Times{0}));
}

// From the definition in the header, worked out outside of this program.
TEST(Pattern, UniformTimesAreTheUpperBitsOfTheGenerator) {
  const std::vector<double> found = times({PatternShape::uniform, 3, 0, 1.0, 1234567});
  EXPECT_EQ(found[0], static_cast<double>(6457827717110365317U >> 11) / 9007199254740992.0);
  EXPECT_EQ(found[1], static_cast<double>(3203168211198807973U >> 11) / 9007199254740992.0);
  EXPECT_EQ(found[2], static_cast<double>(9817491932198370423U >> 11) / 9007199254740992.0);
}

TEST(Pattern, DrawnTimesHaveTheMomentsThatTheHeaderSays) {
  const std::vector<double> uniform = times({PatternShape::uniform, 100000, 0, 12.0, 1});
  EXPECT_NEAR(mean(uniform), 6.0, 0.05);
  EXPECT_NEAR(deviation(uniform), 12 / std::sqrt(12.0), 0.05);
  const std::vector<double> normal = times({PatternShape::normal, 100000, 0, 12.0, 1});
  EXPECT_NEAR(mean(normal), 6.0, 0.02);
  EXPECT_NEAR(deviation(normal), 1.0, 0.02);
  // Mean and median of an exponential distribution with mean 1 without what is beyond 4.
  std::vector<double> exponential = times({PatternShape::exponential, 100000, 0, 4.0, 1});
  EXPECT_NEAR(mean(exponential), 1 - 4 * std::exp(-4.0) / (1 - std::exp(-4.0)), 0.02);
  std::ranges::sort(exponential);
  EXPECT_NEAR(exponential[50000], -std::log(1 - (1 - std::exp(-4.0)) / 2), 0.02);
}

TEST(Pattern, DrawnTimesStayBelowTheMaximum) {
  for (const PatternShape shape :
       {PatternShape::uniform, PatternShape::normal, PatternShape::exponential}) {
    for (const double time : times({shape, 10000, 0, 0.5, 7})) EXPECT_LE(time, 0.5);
  }
}

TEST(Pattern, TheSeedDecidesAndRanksOfSmallerJobsComeFirst) {
  const std::vector<double> a = times({PatternShape::uniform, 8, 0, 1.0, 3});
  const std::vector<double> b = times({PatternShape::uniform, 8, 0, 1.0, 4});
  const std::vector<double> longer = times({PatternShape::uniform, 16, 0, 1.0, 3});
  EXPECT_NE(a, b);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), longer.begin()));
}

TEST(Pattern, RequestsThatMakeNoSenseAreRefused) {
  EXPECT_FALSE(make_pattern({PatternShape::flat, 0}).ok());
  EXPECT_FALSE(make_pattern({PatternShape::root_late, 4, 4, 1.0}).ok());
  EXPECT_FALSE(make_pattern({PatternShape::root_late, 4, -1, 1.0}).ok());
  EXPECT_FALSE(make_pattern({PatternShape::uniform, 4, 0, -1.0}).ok());
  EXPECT_FALSE(make_pattern({PatternShape::uniform, 4, 0, std::nan("")}).ok());
  EXPECT_FALSE(
      make_pattern({PatternShape::fixed, 4, 0, std::numeric_limits<double>::infinity()}).ok());
}

TEST(Pattern, EveryShapeIsFoundByItsName) {
  EXPECT_EQ(pattern_shapes().size(), 7U);
  for (const PatternShape shape : pattern_shapes()) {
    PatternShape found = PatternShape::flat;
    EXPECT_TRUE(shape_from_name(name_of(shape), found));
    EXPECT_EQ(found, shape);
  }
  PatternShape unused = PatternShape::flat;
  EXPECT_FALSE(shape_from_name("triangular", unused));
}

TEST(CheckTimes, SaysWhichRankIsWrongAndWhy) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(check_times(std::vector{0.0, 1.5}, 2), "");
  EXPECT_NE(check_times(std::vector{0.0, std::nan("")}, 2).find("rank 1 is not a number"),
            std::string::npos);
  EXPECT_NE(check_times(std::vector{infinity, 0.0}, 2).find("rank 0 is infinite"),
            std::string::npos);
  EXPECT_NE(check_times(std::vector{0.0, -1.0}, 2).find("rank 1 is negative"), std::string::npos);
  EXPECT_NE(check_times(std::vector{0.0, 1.0}, 3).find("2 arrival times for 3 ranks"),
            std::string::npos);
  EXPECT_NE(check_times({}, 0), "");
  EXPECT_EQ(check_times(std::vector{-0.0}, 1), "");
}

}  // namespace
}  // namespace sibyl
