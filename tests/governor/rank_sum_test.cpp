// The rank-sum test: what it takes to tell two samples apart, and how rarely chance does.
#include "governor/rank_sum.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "arrival/splitmix64.hpp"

namespace sibyl::test {
namespace {

TEST(RankSum, TellsFourFromFourOnlyWhereTheyAreApart) {
  const std::vector<double> low{1, 2, 3, 4};
  EXPECT_EQ(rank_sum_test(std::vector<double>{5, 6, 7, 8}, low), RankSum::above);
  EXPECT_EQ(rank_sum_test(low, std::vector<double>{5, 6, 7, 8}), RankSum::below);
  EXPECT_EQ(rank_sum_test(std::vector<double>{3.5, 6, 7, 8}, low), RankSum::undecided);
}

TEST(RankSum, IsUndecidedWhereThereIsNothing) {
  const std::vector<double> some{1, 2};
  EXPECT_EQ(rank_sum_test({}, some), RankSum::undecided);
  EXPECT_EQ(rank_sum_test(some, {}), RankSum::undecided);
  EXPECT_EQ(rank_sum_test(some, some), RankSum::undecided);
}

TEST(RankSum, TakesNoNoticeOfHowFarOutliersLie) {
  const std::vector<double> low{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1000};
  const std::vector<double> high{2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7};
  EXPECT_EQ(rank_sum_test(high, low), RankSum::above);
}

// One-sided: in one case of 70 with four of each, of about 90 with more.
TEST(RankSum, IsMisledByChanceAsOftenAsItSays) {
  SplitMix64 random(7);
  for (const std::size_t count : {4U, 8U, 16U, 24U}) {
    constexpr int trials = 20000;
    int misled = 0;
    std::vector<double> one(count);
    std::vector<double> other(count);
    for (int trial = 0; trial < trials; ++trial) {
      for (double& cost : one) cost = random.next_unit();
      for (double& cost : other) cost = random.next_unit();
      misled += rank_sum_test(one, other) == RankSum::above ? 1 : 0;
    }
    EXPECT_LT(misled, trials / 60) << count;
    EXPECT_GT(misled, trials / 200) << count;
  }
}

TEST(RankSum, KnowsMedians) {
  EXPECT_EQ(median_of(std::vector<double>{3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{5, 1, 3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 2, 100}), 3);
}

}  // namespace
}  // namespace sibyl::test
