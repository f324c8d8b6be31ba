// The metrics of the papers from the ranks' times.
#include "bench/sample.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sibyl::bench {
namespace {

TEST(Sample, HasTheMetricsOfThePapers) {
  const std::vector<double> arrivals{10, 12, 11};
  const std::vector<double> exits{14, 13, 15};
  const std::vector<double> late{0.1, 0.3, 0.2};
  const std::vector<double> bytes{8, 8, 8};
  const Sample sample = evaluate(Operation::gather, arrivals, exits, late, bytes, 0, {0.25, 0});
  EXPECT_DOUBLE_EQ(sample.run, 5);
  EXPECT_DOUBLE_EQ(sample.absorbed, 3);
  EXPECT_DOUBLE_EQ(sample.spread, 2);
  EXPECT_DOUBLE_EQ(sample.elapsed, (4 + 1 + 4) / 3.0);
  EXPECT_DOUBLE_EQ(sample.bound, 2.25);
  EXPECT_DOUBLE_EQ(sample.late, 0.3);
}

TEST(Sample, OfABareCallIsTheSlowestRanksOwnTime) {
  // The clocks need not agree: every rank's time is its own.
  const Sample sample = slowest(std::vector<double>{0, 5, 100}, std::vector<double>{2, 8, 101});
  EXPECT_DOUBLE_EQ(sample.run, 3);
  EXPECT_DOUBLE_EQ(sample.absorbed, 3);
  EXPECT_DOUBLE_EQ(sample.elapsed, 2);
  EXPECT_DOUBLE_EQ(sample.spread, 0);
}

}  // namespace
}  // namespace sibyl::bench
