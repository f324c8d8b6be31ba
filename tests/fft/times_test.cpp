// What is said of the times of a run.
#include "fft/times.hpp"

#include <gtest/gtest.h>

namespace sibyl::fft {
namespace {

TEST(Quartiles, LieBetweenNeighbours) {
  const Quartiles q = quartiles({4, 1, 3, 2, 5});
  EXPECT_EQ(q.low, 2);
  EXPECT_EQ(q.middle, 3);
  EXPECT_EQ(q.high, 4);
  EXPECT_EQ(quartiles({1, 2}).middle, 1.5);
}

TEST(Table, ComparesEachIterationWithTheFirstContenders) {
  // Load that slows both down alike leaves the factor as it is.
  const std::vector<Times> all{{"MPI", {0.2, 2.0, 0.4}, {0.1, 1.0, 0.2}, {0.1, 1.0, 0.2}},
                               {"SLS", {0.1, 1.0, 0.2}, {0.05, 0.5, 0.1}, {0.1, 0.5, 0.1}}};
  const std::string text = table(all);
  EXPECT_NE(text.find("2.000   2.000"), std::string::npos) << text;
}

TEST(Table, LeavesOutTheRunTimeWithoutACommonClock) {
  const std::string text = table({{"MPI", {0.2}, {}, {0.1}}});
  EXPECT_NE(text.find(" - "), std::string::npos) << text;
}

}  // namespace
}  // namespace sibyl::fft
