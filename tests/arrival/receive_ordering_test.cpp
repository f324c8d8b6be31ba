// The order of service: who is served when, from what is known by then.
#include "arrival/receive_ordering.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sibyl {
namespace {

constexpr double soon = 1e-3;
constexpr double late = 10 * ReceiveOrdering::patience;

std::vector<Rank> all_that_are_next(ReceiveOrdering& queue, double now) {
  std::vector<Rank> served;
  for (Rank rank = queue.next(now); rank != no_rank; rank = queue.next(now)) served.push_back(rank);
  return served;
}

using Ranks = std::vector<Rank>;

TEST(ReceiveOrdering, NobodyIsServedBeforeAnythingIsKnown) {
  ReceiveOrdering queue(4, 1, 8);
  queue.begin(0);
  EXPECT_FALSE(queue.expects());
  EXPECT_EQ(queue.next(100), no_rank);
}

TEST(ReceiveOrdering, AtTheArrivalOfTheRootTheUnknownAreServedInRankOrder) {
  ReceiveOrdering queue(4, 1, 8);
  queue.begin(0);
  queue.join();
  EXPECT_EQ(all_that_are_next(queue, 1), (Ranks{0, 2, 3}));
  EXPECT_TRUE(queue.all_served());
}

TEST(ReceiveOrdering, RanksAreServedAsTheyAreExpected) {
  ReceiveOrdering queue(4, 0, 8);
  queue.begin(0);
  queue.expect(1, 0.300);
  queue.expect(2, 0.100);
  queue.expect(3, 0.200);
  EXPECT_EQ(queue.next(0.050), no_rank);
  EXPECT_EQ(all_that_are_next(queue, 0.100), (Ranks{2}));
  EXPECT_EQ(all_that_are_next(queue, 0.200), (Ranks{3}));
  EXPECT_EQ(all_that_are_next(queue, 0.300), (Ranks{1}));
  EXPECT_TRUE(queue.all_served());
}

TEST(ReceiveOrdering, LooksAgainHalfWayToWhomItExpectsFromBefore) {
  ReceiveOrdering queue(3, 0, 8);
  queue.begin(0);
  queue.expect(1, 0.400);
  queue.expect(2, 0.600);
  queue.begin(10);
  const double half = queue.quiet_until(10);
  EXPECT_GT(half, 10.15);
  EXPECT_LE(half, 10.20);
  EXPECT_GT(queue.quiet_until(half), half + 0.05);
  EXPECT_EQ(queue.next(half), no_rank) << "nobody is due";
  queue.expect(1, 10.700);
  EXPECT_GT(queue.quiet_until(half), 10.3) << "the other one is next";
  const double late = 10.599;
  EXPECT_EQ(queue.next(late), 2);
  EXPECT_EQ(queue.quiet_until(late), 0) << "one is asked and has not answered";
}

TEST(ReceiveOrdering, IsQuietUntilTheNextIsExpectedOnceAllHaveSpoken) {
  ReceiveOrdering queue(4, 0, 8);
  queue.begin(0);
  queue.expect(1, 0.300);
  queue.expect(2, 0.100);
  EXPECT_EQ(queue.quiet_until(0), 0) << "one has still to speak";
  queue.expect(3, 0.200);
  EXPECT_GT(queue.quiet_until(0), 0.1 - ReceiveOrdering::patience);
  EXPECT_LE(queue.quiet_until(0), 0.1);
  EXPECT_EQ(queue.next(queue.quiet_until(0)), 2);
  EXPECT_EQ(queue.quiet_until(0), 0) << "one is asked and has not answered";
  queue.answered(2);
  EXPECT_GT(queue.quiet_until(0), 0.1);
}

TEST(ReceiveOrdering, WhoHasSpokenIsServedBeforeWhoHasNot) {
  ReceiveOrdering queue(4, 0, 1);
  queue.begin(0);
  queue.expect(3, 0.5);
  queue.join();
  EXPECT_EQ(queue.next(0.6), 3);
  queue.answered(3);
  EXPECT_EQ(queue.next(0.6), 1);
}

TEST(ReceiveOrdering, NoMoreAreServedThanTheWindowAllowsUntilOneAnswers) {
  ReceiveOrdering queue(6, 0, 2);
  queue.begin(0);
  queue.join();
  EXPECT_EQ(all_that_are_next(queue, 1), (Ranks{1, 2}));
  EXPECT_EQ(queue.next(1 + soon), no_rank);
  queue.answered(2);
  EXPECT_EQ(queue.unanswered(), (Ranks{1}));
  EXPECT_EQ(all_that_are_next(queue, 1 + soon), (Ranks{3}));
}

TEST(ReceiveOrdering, OneThatIsLateHoldsUpNobody) {
  ReceiveOrdering queue(5, 0, 1);
  queue.begin(0);
  queue.join();
  EXPECT_EQ(all_that_are_next(queue, 1), (Ranks{1}));
  EXPECT_EQ(all_that_are_next(queue, 1 + late), (Ranks{2}));
  EXPECT_EQ(queue.unanswered(), (Ranks{1, 2}));
}

TEST(ReceiveOrdering, EarlierIterationsTellTheOrderAtOnce) {
  ReceiveOrdering queue(4, 0, 8);
  for (int iteration = 0; iteration < 3; ++iteration) {
    queue.begin(iteration);
    queue.expect(1, iteration + 0.3);
    queue.expect(2, iteration + 0.1);
    queue.expect(3, iteration + 0.2);
  }
  queue.begin(10);
  EXPECT_TRUE(queue.expects());
  EXPECT_EQ(queue.next(10.05), no_rank);
  EXPECT_EQ(all_that_are_next(queue, 10.1), (Ranks{2}));
  EXPECT_EQ(all_that_are_next(queue, 10.2), (Ranks{3}));
}

TEST(ReceiveOrdering, WhatARankSaysCountsMoreThanWhatItUsedToDo) {
  ReceiveOrdering queue(3, 0, 8);
  for (int iteration = 0; iteration < 2; ++iteration) {
    queue.begin(iteration);
    queue.expect(1, iteration + 0.1);
    queue.expect(2, iteration + 0.2);
  }
  queue.begin(10);
  queue.expect(1, 10.4);
  EXPECT_EQ(all_that_are_next(queue, 10.2), (Ranks{2}));
  EXPECT_EQ(all_that_are_next(queue, 10.4), (Ranks{1}));
}

TEST(ReceiveOrdering, AnExpectationOfNextYearKeepsNobodyWaitingOnceTheRootIsThere) {
  ReceiveOrdering queue(4, 0, 8);
  queue.begin(0);
  for (const Rank rank : {1, 2, 3}) queue.expect(rank, 3e7 + rank);
  EXPECT_EQ(queue.next(1), no_rank);
  queue.join();
  double now = 1;
  for (const Rank rank : {1, 2, 3}) {
    EXPECT_EQ(all_that_are_next(queue, now), (Ranks{rank}));
    now += late;
  }
  EXPECT_TRUE(queue.all_served());
}

TEST(ReceiveOrdering, WhateverIsSaidEveryRankIsServedOnce) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-0.1, 0.2);
  for (int trial = 0; trial < 200; ++trial) {
    const auto ranks = static_cast<Rank>(1 + random() % 20);
    const auto root = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
    ReceiveOrdering queue(ranks, root, 1 + random() % 4);
    for (int iteration = 0; iteration < 3; ++iteration) {
      const double begin = iteration;
      queue.begin(begin);
      std::vector<int> times(static_cast<std::size_t>(ranks), 0);
      for (int look = 0; look < 400 && !queue.all_served(); ++look) {
        const double now = begin + look * soon;
        if (look == 50) queue.join();
        const auto rank = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
        if (rank != root && random() % 2 == 0) queue.expect(rank, begin + any(random));
        for (const Rank next : all_that_are_next(queue, now)) {
          ++times[static_cast<std::size_t>(next)];
        }
        if (!queue.unanswered().empty() && random() % 2 == 0) {
          queue.answered(queue.unanswered().front());
        }
      }
      for (Rank rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(times[static_cast<std::size_t>(rank)], rank == root ? 0 : 1);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl
