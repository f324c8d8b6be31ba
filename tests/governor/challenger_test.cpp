// The challenger: of Sibyl's choice, the library's own and the algorithm that the model has next
// the best one serves in the end, and nothing that the governor promises of two is lost with three.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "governor/governed_ranks.hpp"
#include "governor/governor.hpp"

namespace sibyl::test {
namespace {

TEST(Challenger, TheBestOfThreeServes) {
  std::array<double, arm_count> cost{1 * ms, 2 * ms, 3 * ms};
  do {
    GovernedRanks ranks;
    const auto now = costs_of_three(cost[0], cost[1], cost[2]);
    const Governor::Key key = GovernedRanks::challenged();
    for (int call = 0; call < 30; ++call) ranks.call(now, key);
    const auto best = static_cast<Arm>(std::ranges::min_element(cost) - cost.begin());
    EXPECT_EQ(ranks.site().arm, best) << cost[0] << ' ' << cost[1] << ' ' << cost[2];
    for (int call = 0; call < 100; ++call) EXPECT_EQ(ranks.call(now, key), best);
    for (std::size_t arm = 0; arm < arm_count; ++arm) {
      EXPECT_DOUBLE_EQ(ranks.site().cost[arm], cost[arm]);
    }
  } while (std::ranges::next_permutation(cost).found);
}

// The library is tried first, so that a site that is slower is with it as soon as without a
// challenger.
TEST(Challenger, ComesAfterTheLibrary) {
  GovernedRanks ranks;
  const auto now = costs_of_three(3 * ms, 1 * ms, 9 * ms);
  int challenged = 0;
  for (int call = 0; call < 12; ++call) {
    challenged += ranks.call(now, GovernedRanks::challenged()) == Arm::challenger ? 1 : 0;
  }
  EXPECT_EQ(challenged, 0);
  ranks.call(now, GovernedRanks::challenged());
  EXPECT_EQ(ranks.site().arm, Arm::native);
  EXPECT_EQ(ranks.site().contender, Arm::challenger);
}

// Where the first trial took all of its looks the next one leaves the site in peace for a while.
TEST(Challenger, WaitsWhereTheLibraryWasHardToJudge) {
  GovernedRanks ranks;
  const auto alike = costs_of_three(1.05 * ms, 1 * ms, 1 * ms);
  int call = 0;
  const auto tries = [&](Arm contender) {
    return ranks.site().trying && ranks.site().contender == contender;
  };
  do {
    ranks.call(alike, GovernedRanks::challenged());
    ++call;
  } while (call == 1 || tries(Arm::native));
  EXPECT_GT(call, 48);
  EXPECT_LT(call, 60);
  while (call < Governor::first_challenge && !tries(Arm::challenger)) {
    ranks.call(alike, GovernedRanks::challenged());
    ++call;
  }
  EXPECT_EQ(call, Governor::first_challenge);
  ranks.call(alike, GovernedRanks::challenged());
  EXPECT_TRUE(tries(Arm::challenger));
}

// One that is no better than the margin takes nobody's place.
TEST(Challenger, HasToBeClearlyBetter) {
  for (const double challenger : {0.97 * ms, 1 * ms, 1.2 * ms}) {
    GovernedRanks ranks;
    for (int call = 0; call < 200; ++call) {
      ranks.call(costs_of_three(1 * ms, 2 * ms, challenger), GovernedRanks::challenged());
    }
    EXPECT_EQ(ranks.site().arm, Arm::own) << challenger;
  }
}

TEST(Challenger, IsOfItsOwnSite) {
  GovernedRanks ranks;
  const auto now = costs_of_three(2 * ms, 3 * ms, 1 * ms);
  for (int call = 0; call < 100; ++call) {
    ranks.call(now, GovernedRanks::challenged());
    EXPECT_NE(ranks.call(now, GovernedRanks::key_of(1 << 20)), Arm::challenger);
  }
  EXPECT_EQ(ranks.site(0).arm, Arm::challenger);
  EXPECT_EQ(ranks.site(1).arm, Arm::own);
}

TEST(Challenger, IsTriedAgainEverMoreRarely) {
  GovernedRanks ranks;
  std::vector<int> begun;
  bool trying = false;
  for (int call = 0; call < 60000; ++call) {
    ranks.call(costs_of_three(1 * ms, 1.5 * ms, 1.2 * ms), GovernedRanks::challenged());
    const bool tries = ranks.site().trying && ranks.site().contender == Arm::challenger;
    if (tries && !trying) begun.push_back(call);
    trying = tries;
  }
  ASSERT_GE(begun.size(), 4U);
  EXPECT_LT(begun.size(), 10U);
  for (std::size_t i = 2; i < begun.size(); ++i) {
    EXPECT_GT(begun[i] - begun[i - 1], 3 * (begun[i - 1] - begun[i - 2]) / 2);
  }
}

TEST(Challenger, ThreeLoseNoMoreThanTwoAfterTheFirstTrials) {
  std::array<double, arm_count> cost{1 * ms, 2 * ms, 3 * ms};
  do {
    GovernedRanks ranks(4, 100e-6);
    const auto now = costs_of_three(cost[0], cost[1], cost[2]);
    const Governor::Key key = GovernedRanks::challenged();
    for (int call = 0; call < 40; ++call) ranks.call(now, key);
    const double best = *std::ranges::min_element(cost);
    const int agreed = ranks.agreements;
    double lost = 0;
    constexpr int calls = 20000;
    for (int call = 0; call < calls; ++call) lost += cost[place_of(ranks.call(now, key))] - best;
    lost += 100e-6 * (ranks.agreements - agreed);
    EXPECT_LT(lost, 0.01 * calls * best) << cost[0] << ' ' << cost[1] << ' ' << cost[2];
  } while (std::ranges::next_permutation(cost).found);
}

// What serves is watched, whoever it is.
TEST(Challenger, LeavesWithinTwentyCallsOfItsBecomingSlower) {
  for (int steady = 60; steady < 70; ++steady) {
    GovernedRanks ranks;
    const Governor::Key key = GovernedRanks::challenged();
    for (int call = 0; call < steady; ++call) {
      ranks.call(costs_of_three(1.5 * ms, 2 * ms, 1 * ms), key);
    }
    ASSERT_EQ(ranks.site().arm, Arm::challenger);
    for (int call = 0; call < 20; ++call) {
      ranks.call(costs_of_three(5 * ms, 2 * ms, 4 * ms), key);
    }
    EXPECT_EQ(ranks.site().arm, Arm::native) << steady;
  }
}

// Even where Sibyl's two are just being compared, which takes longest where they are alike: a look
// of theirs comes before.
TEST(Challenger, HoldsUpNoFlightToTheLibrary) {
  for (int into = 0; into < 20; ++into) {
    GovernedRanks ranks;
    const Governor::Key key = GovernedRanks::challenged();
    const auto alike = costs_of_three(1 * ms, 2 * ms, 0.95 * ms);
    int calls = 0;
    const auto compares = [&] {
      return ranks.site().trying && ranks.site().contender == Arm::challenger;
    };
    ranks.call(alike, key);
    while (!compares() && ++calls < 100) ranks.call(alike, key);
    ASSERT_TRUE(compares());
    for (int call = 0; call < into && compares(); ++call) ranks.call(alike, key);
    if (!compares()) break;
    for (int call = 0; call < 26; ++call) {
      ranks.call(costs_of_three(4 * ms, 2 * ms, 4 * ms), key);
    }
    EXPECT_EQ(ranks.site().arm, Arm::native) << into;
  }
}

// What was slower when links were fast may be the best one when they are not.
TEST(Challenger, IsTriedSoonWhereAnotherArmHasTakenOver) {
  GovernedRanks ranks;
  const Governor::Key key = GovernedRanks::challenged();
  for (int call = 0; call < 5000; ++call) {
    ranks.call(costs_of_three(1 * ms, 2 * ms, 3 * ms), key);
  }
  for (int call = 0; call < 400; ++call) {
    ranks.call(costs_of_three(6 * ms, 4 * ms, 3 * ms), key);
  }
  EXPECT_EQ(ranks.site().arm, Arm::challenger);
}

// Stalls: a rank loses the processor in some calls.
TEST(Challenger, IsFoundAmongStalls) {
  int found = 0;
  constexpr int runs = 100;
  for (int run = 0; run < runs; ++run) {
    GovernedRanks ranks;
    const auto noisy = [&](Arm arm, int call, Rank rank) {
      SplitMix64 random(static_cast<std::uint64_t>(run) * 1'000'003 +
                        static_cast<std::uint64_t>(call * 64 + rank));
      random.next();
      const double noise = 1 + 0.1 * (random.next_unit() - 0.5);
      const double stall = random.next() % 20 == 0 ? 50 : 0;
      return std::array{1.6, 1.3, 1.0}[place_of(arm)] * noise + stall;
    };
    for (int call = 0; call < 130; ++call) ranks.call(noisy, GovernedRanks::challenged());
    found += ranks.site().arm == Arm::challenger ? 1 : 0;
  }
  EXPECT_GT(found, runs * 8 / 10);
}

}  // namespace
}  // namespace sibyl::test
