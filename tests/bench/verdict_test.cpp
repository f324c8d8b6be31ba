// The words of the benchmark: nothing is called "not slower" whose ratio is known to be above the
// margin.
#include "bench/verdict.hpp"

#include <gtest/gtest.h>

namespace sibyl::bench {
namespace {

TEST(Verdict, SaysWhatWasProvenFirst) {
  const Interval high{1.5, 1.7};
  EXPECT_EQ(verdict({.is_reference = true, .held = true, .slower = true, .ratio = high}, 0.05),
            "reference");
  EXPECT_EQ(verdict({.held = true, .slower = true, .ratio = high}, 0.05), "SLOWER");
  EXPECT_EQ(verdict({.held = true, .faster = true, .ratio = {0.8, 0.9}}, 0.05), "faster");
  EXPECT_EQ(verdict({.held = false, .ratio = high}, 0.05), "") << "nothing is claimed of it";
}

TEST(Verdict, IsWithinTheMarginWhereTheIntervalLiesAboveIt) {
  EXPECT_EQ(verdict({.held = true, .ratio = {1.57, 1.59}}, 0.05), "within the margin");
  EXPECT_EQ(verdict({.held = true, .ratio = {1.04, 1.07}}, 0.05), "not slower");
  EXPECT_EQ(verdict({.held = true, .ratio = {1.04, 1.07}}, 0.02), "within the margin");
  EXPECT_EQ(verdict({.held = true, .ratio = {0.92, 1.24}}, 0.05), "not slower");
}

}  // namespace
}  // namespace sibyl::bench
