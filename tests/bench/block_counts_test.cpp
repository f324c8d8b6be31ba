// The irregular problems of Traeff 2017.
#include "bench/block_counts.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace sibyl::bench {
namespace {

constexpr CountShape shapes[] = {CountShape::same,        CountShape::random,
                                 CountShape::spikes,      CountShape::decreasing,
                                 CountShape::alternating, CountShape::two_blocks};

TEST(BlockCounts, AddUpToTheTotalAndAreNeverNegative) {
  for (const CountShape shape : shapes) {
    for (const int ranks : {1, 2, 3, 7, 48}) {
      for (const int total : {1, 47, 1000, 262144}) {
        const std::vector<int> counts = block_counts(shape, total, ranks, 1);
        ASSERT_EQ(counts.size(), static_cast<std::size_t>(ranks));
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), total) << name_of(shape);
        for (const int count : counts) EXPECT_GE(count, 0) << name_of(shape);
      }
    }
  }
}

TEST(BlockCounts, HaveTheShapeThatTheyAreCalled) {
  using Counts = std::vector<int>;
  EXPECT_EQ(block_counts(CountShape::same, 100, 4, 1), (Counts{25, 25, 25, 25}));
  EXPECT_EQ(block_counts(CountShape::alternating, 400, 4, 1), (Counts{150, 50, 150, 50}));
  EXPECT_EQ(block_counts(CountShape::two_blocks, 100, 4, 1), (Counts{50, 0, 0, 50}));
  const Counts decreasing = block_counts(CountShape::decreasing, 1000, 5, 1);
  for (std::size_t i = 1; i < decreasing.size(); ++i) EXPECT_LT(decreasing[i], decreasing[i - 1]);
  const Counts spikes = block_counts(CountShape::spikes, 10000, 10, 1);
  EXPECT_GT(spikes[0], 100 * spikes[1]);
  EXPECT_GT(spikes[5], 100 * spikes[6]);
}

TEST(BlockCounts, AreDrawnFromTheSeed) {
  EXPECT_EQ(block_counts(CountShape::random, 1000, 9, 1),
            block_counts(CountShape::random, 1000, 9, 1));
  EXPECT_NE(block_counts(CountShape::random, 1000, 9, 1),
            block_counts(CountShape::random, 1000, 9, 2));
}

TEST(BlockCounts, OfThePapersProblemsFollowItsFormulas) {
  using Counts = std::vector<int>;
  EXPECT_EQ(problem_counts(CountShape::same, 10, 4, 1), (Counts{10, 10, 10, 10}));
  EXPECT_EQ(problem_counts(CountShape::decreasing, 10, 4, 1), (Counts{21, 16, 11, 6}));
  EXPECT_EQ(problem_counts(CountShape::alternating, 11, 4, 1), (Counts{16, 6, 16, 6}));
  EXPECT_EQ(problem_counts(CountShape::alternating, 1, 3, 1), (Counts{1, 1, 1}));
  EXPECT_EQ(problem_counts(CountShape::two_blocks, 10, 5, 1), (Counts{10, 0, 0, 0, 10}));
  EXPECT_EQ(problem_counts(CountShape::two_blocks, 10, 1, 1), (Counts{10}));
  // Table 1 of the paper: m of the 560 ranks' decreasing problems, m' of the padded ones.
  const Counts decreasing = problem_counts(CountShape::decreasing, 10, 560, 1);
  EXPECT_EQ(std::accumulate(decreasing.begin(), decreasing.end(), 0), 5900);
  EXPECT_EQ(560 * decreasing.front(), 11760);
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    for (const int count : problem_counts(CountShape::random, 7, 48, seed)) {
      EXPECT_GE(count, 1);
      EXPECT_LE(count, 14);
    }
    int spikes = 0;
    for (const int count : problem_counts(CountShape::spikes, 7, 3, seed)) {
      EXPECT_TRUE(count == 1 || count == 35);
      if (count == 35) ++spikes;
    }
    EXPECT_GE(spikes, 1);
  }
}

TEST(BlockCounts, AreFoundByName) {
  for (const CountShape shape : shapes) {
    CountShape found = CountShape::same;
    EXPECT_TRUE(shape_from_name(name_of(shape), found));
    EXPECT_EQ(found, shape);
  }
  CountShape found = CountShape::same;
  EXPECT_FALSE(shape_from_name("equal", found));
}

}  // namespace
}  // namespace sibyl::bench
