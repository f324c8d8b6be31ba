// What ranks say that are to seem to come when others do.
#include "fft/pretending.hpp"

#include <gtest/gtest.h>

namespace sibyl::fft {
namespace {

TEST(Pretending, TellsEveryRanksTimeOnceAndEachWindowsOtherwise) {
  bool differs = false;
  for (std::uint64_t window = 0; window < 20; ++window) {
    std::vector<std::size_t> others = told_of(8, window);
    EXPECT_EQ(others, told_of(8, window));
    differs = differs || others != told_of(8, window + 1);
    std::ranges::sort(others);
    EXPECT_EQ(others, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
  EXPECT_TRUE(differs);
}

// From the fraction the whole time is foretold as half / fraction.
TEST(Pretending, ForetellsTheOthersTimeByTheFraction) {
  EXPECT_DOUBLE_EQ(told_fraction(0.2, 0), 0.5);
  for (const double later : {-0.15, -0.01, 0.01, 0.3, 7.0}) {
    EXPECT_NEAR(0.2 / told_fraction(0.2, later), 0.4 + later, 1e-12) << later;
  }
}

TEST(Pretending, SaysNearlyAllOfWorkThatWouldSeemOver) {
  for (const double later : {-0.2, -0.3, -0.4, -1.0}) {
    EXPECT_DOUBLE_EQ(told_fraction(0.2, later), 0.999) << later;
  }
  EXPECT_DOUBLE_EQ(told_fraction(0, 0), 0.999);
}

}  // namespace
}  // namespace sibyl::fft
