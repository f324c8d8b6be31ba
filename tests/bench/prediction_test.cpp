// What contenders are told of arrivals, right or wrong.
#include "bench/prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sibyl::bench {
namespace {

using Times = std::vector<double>;

TEST(Prediction, NamesOfTheCommandAreKnown) {
  for (const char* name : {"right", "none", "flat", "shuffled", "one-late", "false-late"}) {
    Prediction found = Prediction::right;
    EXPECT_TRUE(prediction_from_name(name, found)) << name;
  }
  Prediction kept = Prediction::flat;
  EXPECT_FALSE(prediction_from_name("late", kept));
  EXPECT_EQ(kept, Prediction::flat);
}

TEST(Prediction, FalseLateTellsTheLastRankLaterByAComputation) {
  EXPECT_EQ(predicted(Prediction::false_late, Times{0, 0, 0}, 0.2, 1), (Times{0, 0, 0.2}));
  EXPECT_EQ(predicted(Prediction::false_late, Times{0.5, 0, 0.25}, 0.5, 1), (Times{0.5, 0, 0.75}));
  EXPECT_EQ(predicted(Prediction::false_late, Times{}, 0.5, 1), Times{});
}

TEST(Prediction, OthersFollowTheirNames) {
  const Times times{0.1, 0.3, 0.2};
  EXPECT_EQ(predicted(Prediction::right, times, 1, 1), times);
  EXPECT_EQ(predicted(Prediction::none, times, 1, 1), Times{});
  EXPECT_EQ(predicted(Prediction::flat, times, 1, 1), (Times{0, 0, 0}));
  const Times one_late = predicted(Prediction::one_late, times, 1, 1);
  EXPECT_DOUBLE_EQ(one_late[1], 0.03);
  for (unsigned seed = 0; seed < 20; ++seed) {
    Times shuffled = predicted(Prediction::shuffled, times, 1, seed);
    EXPECT_NE(shuffled, times);
    std::ranges::sort(shuffled);
    EXPECT_EQ(shuffled, (Times{0.1, 0.2, 0.3}));
  }
}

}  // namespace
}  // namespace sibyl::bench
