// The benchmark's verdicts stand on these functions.
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

namespace sibyl::bench {
namespace {

TEST(Quantile, InterpolatesBetweenNeighboursOfTheSortedSamples) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(MedianInterval, IsTheBinomialOneOfTheTables) {
  // n = 20 at 95 %: the 6th and the 15th order statistic.
  std::vector<double> samples;
  for (int i = 1; i <= 20; ++i) samples.push_back(i);
  const Interval interval = median_interval(samples);
  EXPECT_DOUBLE_EQ(interval.low, 6);
  EXPECT_DOUBLE_EQ(interval.high, 15);
}

TEST(MedianInterval, IsTheWholeRangeWhenThereAreTooFewSamples) {
  const Interval interval = median_interval({3, 1, 2});
  EXPECT_DOUBLE_EQ(interval.low, 1);
  EXPECT_DOUBLE_EQ(interval.high, 3);
}

TEST(SignTest, IsTheUpperTailOfTheFairCoin) {
  EXPECT_NEAR(sign_test({1, 1, 1, 1, 1}), 1.0 / 32, 1e-12);
  EXPECT_NEAR(sign_test({1, 1, 1, -1}), 5.0 / 16, 1e-12);
  EXPECT_NEAR(sign_test({-1, -1}), 1, 1e-12);
}

TEST(SignTest, LeavesTiesOut) {
  EXPECT_NEAR(sign_test({0, 1, 0, 1}), 0.25, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test({0, 0}), 1);
  EXPECT_DOUBLE_EQ(sign_test({}), 1);
}

TEST(Holm, StepsDownAndNeverReordersOrExceedsOne) {
  const std::vector<double> adjusted = holm({0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(adjusted[3], 0.02, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12);
  EXPECT_DOUBLE_EQ(holm({0.9, 0.8})[0], 1);
}

}  // namespace
}  // namespace sibyl::bench
