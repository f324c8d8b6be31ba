// The governor: sites that are slower than the MPI library are left to it soon, those that are not
// are not, all ranks do the same, and little is spent on finding out.
#include "governor/governor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "governor/governed_ranks.hpp"

namespace sibyl::test {
namespace {

TEST(Governor, LeavesASlowerSiteToTheLibraryWithinTwentyCalls) {
  GovernedRanks ranks;
  ranks.native_of(20, costs(3 * ms, 1 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
  EXPECT_TRUE(ranks.site().decided);
  EXPECT_EQ(ranks.native_of(200, costs(3 * ms, 1 * ms)), 200);
}

TEST(Governor, LeavesASiteWhereItIsNotSlower) {
  for (const double own : {0.3 * ms, 1 * ms, 1.03 * ms}) {
    GovernedRanks ranks;
    ranks.native_of(20, costs(own, 1 * ms));
    EXPECT_EQ(ranks.site().arm, Arm::own);
    EXPECT_TRUE(ranks.site().decided);
    EXPECT_EQ(ranks.native_of(200, costs(own, 1 * ms)), 0) << own;
  }
}

TEST(Governor, TakesNoNoticeOfTwoHundredNanoseconds) {
  GovernedRanks ranks(4, 1e-9);
  ranks.native_of(20, costs(1.15e-6, 1e-6));
  EXPECT_EQ(ranks.site().arm, Arm::own);
  GovernedRanks others(4, 1e-9);
  others.native_of(20, costs(1.25e-6, 1e-6));
  EXPECT_EQ(others.site().arm, Arm::native);
}

// Two lines in turns, of which Sibyl is better at one and the library at the other.
TEST(Governor, JudgesTheLinesOfAProgramApart) {
  GovernedRanks ranks;
  const auto by_line = [](Arm arm, int call, Rank) {
    const bool good = call % 2 == 0;
    return (arm == Arm::own) == good ? 1 * ms : 3 * ms;
  };
  const auto one = [&] {
    return ranks.call(by_line, GovernedRanks::key_of(1 << 20), 0, ranks.calls() % 2 == 0 ? 7 : 8);
  };
  for (int i = 0; i < 60; ++i) one();
  for (int i = 0; i < 100; ++i) {
    const Arm wanted = ranks.calls() % 2 == 0 ? Arm::own : Arm::native;
    EXPECT_EQ(one(), wanted) << ranks.calls();
  }
  EXPECT_EQ(ranks.site(1).key.line + ranks.site(2).key.line, 3);
}

// Where lines come one after the other, not in turns, the one that is called now is judged.
TEST(Governor, JudgesALineThatTakesTheOthersPlace) {
  GovernedRanks ranks;
  const Governor::Key key = GovernedRanks::key_of(1 << 20);
  for (int i = 0; i < 40; ++i) ranks.call(costs(1 * ms, 3 * ms), key, 0, 7);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  int native = 0;
  for (int i = 0; i < 600; ++i) {
    native += ranks.call(costs(3 * ms, 1 * ms), key, 0, 8) == Arm::native ? 1 : 0;
  }
  EXPECT_GT(native, 550);
}

// A trial that begins at the call that follows verdicts takes the place of a watch that was due.
TEST(Governor, GoesOnWhereNothingIsLeftToTell) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SplitMix64 random(seed);
    GovernedRanks ranks(2);
    std::uint64_t arrivals = 0;
    std::uint64_t size = 1;
    for (int call = 0; call < 3000; ++call) {
      if (random.next() % 8 == 0) size = 1 + random.next() % 4;
      if (random.next() % 64 == 0) ++arrivals;
      ranks.call(costs(1 * ms, 2 * ms), GovernedRanks::key_of(size << 20), arrivals);
      ASSERT_FALSE(ranks.of(1).is_off()) << "call " << call << " of seed " << seed;
    }
  }
}

// Those who leave a call early say nothing of when it is over.
TEST(Governor, GoesByTheRankThatIsLongestInACall) {
  GovernedRanks ranks;
  const auto leaves_go_early = [](Arm arm, int, Rank rank) {
    if (arm == Arm::own) return 2 * ms;
    return rank == 0 ? 3 * ms : 1 * ms;
  };
  ranks.native_of(20, leaves_go_early);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  EXPECT_TRUE(ranks.site().decided);
}

TEST(Governor, TrialsAreOfPairsInADrawnOrder) {
  GovernedRanks ranks;
  EXPECT_EQ(ranks.call(costs(1, 1)), Arm::own);  // planned
  EXPECT_EQ(ranks.call(costs(1, 1)), Arm::native);
  int own_first = 0;
  for (int pair = 0; pair < 4; ++pair) {
    const Arm first = ranks.call(costs(1, 1));
    EXPECT_NE(ranks.call(costs(1, 1)), first);
    own_first += first == Arm::own ? 1 : 0;
  }
  EXPECT_GT(own_first, 0);
  EXPECT_LT(own_first, 4);
}

TEST(Governor, DoesNotLookAtTheFirstPair) {
  GovernedRanks ranks;
  const auto slow_at_first = [](Arm arm, int call, Rank) {
    return call < 2 ? 100.0 : arm == Arm::own ? 1.0 : 3.0;
  };
  ranks.native_of(20, slow_at_first);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  EXPECT_DOUBLE_EQ(ranks.site().cost[place_of(Arm::own)], 1);
  EXPECT_DOUBLE_EQ(ranks.site().cost[place_of(Arm::native)], 3);
}

// A rank loses the processor in one call of five.
GovernedRanks::Cost noisy(double own, double native, std::uint64_t seed) {
  return [=](Arm arm, int call, Rank rank) {
    SplitMix64 random(seed * 1'000'003 + static_cast<std::uint64_t>(call * 64 + rank));
    random.next();
    const double noise = 1 + 0.1 * (random.next_unit() - 0.5);
    const double stall = random.next() % 20 == 0 ? 50 : 0;
    return (arm == Arm::own ? own : native) * noise + stall;
  };
}

TEST(Governor, IsRarelyMisledByStalls) {
  int native = 0;
  int own = 0;
  constexpr int runs = 200;
  for (int run = 0; run < runs; ++run) {
    GovernedRanks slower;
    slower.native_of(70, noisy(1.3, 1, static_cast<std::uint64_t>(run)));
    native += slower.site().arm == Arm::native ? 1 : 0;
    GovernedRanks faster;
    faster.native_of(70, noisy(0.9, 1, static_cast<std::uint64_t>(run)));
    own += faster.site().arm == Arm::own ? 1 : 0;
    EXPECT_TRUE(slower.site().decided && faster.site().decided);
  }
  EXPECT_GT(native, runs * 9 / 10);
  EXPECT_GT(own, runs * 9 / 10);
}

// Single calls scatter by a third of what they take: 24 pairs miss a loss of a seventh now and
// then.
TEST(Governor, FindsALossThatOneTrialDoesNotShow) {
  const auto scattered = [](std::uint64_t seed) {
    return [seed](Arm arm, int call, Rank) {
      SplitMix64 random(seed * 1'000'003 + static_cast<std::uint64_t>(call));
      random.next();
      return (arm == Arm::own ? 1.15 : 1) * ms * (0.5 + random.next_unit());
    };
  };
  constexpr int seeds = 200;
  int after_one = 0;
  int in_the_end = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    GovernedRanks ranks(2);
    ranks.native_of(100, scattered(seed));
    after_one += ranks.site().arm == Arm::native ? 1 : 0;
    ranks.native_of(20'000, scattered(seed));
    in_the_end += ranks.site().arm == Arm::native ? 1 : 0;
  }
  EXPECT_LT(after_one, 95 * seeds / 100);
  EXPECT_GE(in_the_end, 98 * seeds / 100) << after_one;
}

// Every second or fourth call of a site is another kind of call, in whatever order.
TEST(Governor, IsNotMisledByCallsOfTwoKindsInTurns) {
  for (const int period : {2, 4}) {
    for (int phase = 0; phase < period; ++phase) {
      for (const int more : {0, 1, 2, 3}) {  // sites that came before
        GovernedRanks ranks(2);
        const auto in_turns = [=](Arm arm, int call, Rank) {
          const bool is_long = (call + phase) % period < period / 2;
          return (arm == Arm::own ? 0.97 : 1) * (is_long ? 3 * ms : 1 * ms);
        };
        for (int site = 0; site < more; ++site) {
          ranks.call(in_turns, GovernedRanks::key_of(std::uint64_t{1} << (21 + site)));
        }
        ranks.native_of(70, in_turns);
        const Governor::Site& site = ranks.site(static_cast<std::size_t>(more));
        EXPECT_EQ(site.arm, Arm::own) << period << " " << phase << " " << more;
        EXPECT_NEAR(site.cost[place_of(Arm::own)] / site.cost[place_of(Arm::native)], 0.97, 0.01);
      }
    }
  }
}

TEST(Governor, TriesAgainEverMoreRarely) {
  GovernedRanks ranks;
  std::vector<int> begun;
  bool trying = true;
  for (int i = 0; i < 40000; ++i) {
    ranks.call(costs(1.2 * ms, 1 * ms));
    if (ranks.site().trying && !trying) begun.push_back(i);
    trying = ranks.site().trying;
  }
  ASSERT_GE(begun.size(), 4U);
  EXPECT_LT(begun.size(), 10U);
  for (std::size_t i = 2; i < begun.size(); ++i) {
    EXPECT_GT(begun[i] - begun[i - 1], 3 * (begun[i - 1] - begun[i - 2]) / 2);
  }
}

// What follows from when trials and watches are due, where a call of an arm always takes the same:
// when a trial begins, all before it but the first of each arm have taken half a hundredth of the
// time at most. So have the messages by which a site is watched, apart from the first ones, for
// which nobody knows yet what they take. Together they are the hundredth that governing may take.
void expect_a_hundredth(std::array<double, arm_count> cost, bool challenged, double agreement) {
  const auto now = costs_of_three(cost[0], cost[1], cost[2]);
  GovernedRanks ranks(4, agreement);
  const Governor::Key key =
      challenged ? GovernedRanks::challenged() : GovernedRanks::key_of(1 << 20);
  const auto call = [&] { return cost[place_of(ranks.call(now, key))]; };
  for (int first = 0; first < 300 || ranks.site().trying; ++first) call();
  const double usual = cost[place_of(ranks.site().arm)];
  double passed = 0;
  double tried = 0;
  double watched = 0;
  int trials = 0;
  for (int number = 0; number < 40000; ++number) {
    const bool trying = ranks.site().trying;
    const int agreed = ranks.agreements;
    const double took = call();
    passed += took;
    const double told = agreement * (ranks.agreements - agreed);
    (trying ? tried : watched) += told;
    const double lost = std::max(took - usual, 0.0);
    tried += lost;
    EXPECT_LE(watched, 0.005 * passed + agreement);
    if (trying || !ranks.site().trying) continue;
    ++trials;
    EXPECT_LE(tried - lost, 0.005 * passed) << "before trial " << trials;
  }
  EXPECT_GE(trials, 2);
}

TEST(Governor, PaysForATrialByTheCallsUntilTheNextOneAndForMessagesByThoseBetween) {
  for (const double agreement : {1e-6, 99e-6, 499e-6}) {
    for (const double other : {1.04, 1.2, 3.0, 10.0}) {
      SCOPED_TRACE(std::to_string(agreement) + ' ' + std::to_string(other));
      expect_a_hundredth({1 * ms, other * ms, 9 * ms}, false, agreement);
      expect_a_hundredth({other * ms, 1 * ms, 9 * ms}, false, agreement);
      expect_a_hundredth({1 * ms, other * ms, 2 * ms}, true, agreement);
      expect_a_hundredth({other * ms, 1 * ms, 2 * ms}, true, agreement);
      expect_a_hundredth({2 * ms, other * ms, 1 * ms}, true, agreement);
    }
  }
}

TEST(Governor, ComesBackWhereTheLibraryHasBecomeSlower) {
  GovernedRanks ranks;
  ranks.native_of(100, costs(3 * ms, 1 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
  ranks.native_of(2000, costs(1 * ms, 2 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::own);
}

// Long calls are looked at every four calls: agreements are cheap beside them.
TEST(Governor, LeavesASiteWithinTwentyCallsOfItsBecomingSlower) {
  for (int steady = 60; steady < 70; ++steady) {
    GovernedRanks ranks;
    EXPECT_LT(ranks.native_of(steady, costs(1 * ms, 2 * ms)), 10);
    ranks.native_of(19, costs(4 * ms, 2 * ms));
    ranks.call(costs(4 * ms, 2 * ms));
    EXPECT_EQ(ranks.site().arm, Arm::native) << steady;
  }
}

// A persistent request has no call of the library's: its own program and the challenger's.
// All calls take less than they did, the library's by far.
TEST(Governor, LeavesASiteThatHasBecomeFasterToAFasterLibrary) {
  GovernedRanks ranks;
  ranks.native_of(200, costs(10 * ms, 11 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::own);
  ranks.native_of(20, costs(6 * ms, 3 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

// Sibyl's calls take as long as before, but the last rank finds all done by the library.
TEST(Governor, TriesAgainWhereRanksComeFurtherApart) {
  double apart = 0;
  double native = 3 * ms;
  GovernedRanks ranks;
  ranks.join_at([&](int call, Rank rank) { return call + (rank == 2 ? apart : 0); });
  const auto cost = [&](Arm arm, int, Rank rank) {
    return (arm == Arm::own ? 1 * ms : native) + (rank == 2 ? 0 : apart);
  };
  ranks.native_of(200, cost);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  apart = 20 * ms;
  native = 0.5 * ms;
  ranks.native_of(20, cost);
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

TEST(Governor, TriesTheChallengerWhereTheLibraryMayNotServe) {
  Governor::Key key = GovernedRanks::challenged();
  key.library = false;
  const auto run = [&](GovernedRanks& ranks, int times, double own, double challenger) {
    for (int i = 0; i < times; ++i) {
      EXPECT_NE(ranks.call(costs_of_three(own, 0.1 * ms, challenger), key), Arm::native);
    }
  };
  GovernedRanks ranks;
  run(ranks, 20, 3 * ms, 1 * ms);
  EXPECT_EQ(ranks.site().arm, Arm::challenger);
  run(ranks, 40, 3 * ms, 9 * ms);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  // Both become slower alike: a trial finds that it was not the one in force, and no more follow.
  run(ranks, 60, 30 * ms, 90 * ms);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  EXPECT_FALSE(ranks.site().trying);
  GovernedRanks others;
  run(others, 20, 1 * ms, 3 * ms);
  EXPECT_EQ(others.site().arm, Arm::own);
}

// As a rank that writes a file between a report and its verdict.
TEST(Governor, WatchesOnAfterOneAgreementThatTookLong) {
  GovernedRanks ranks;
  ranks.native_of(100, costs(1 * ms, 2 * ms));
  ASSERT_EQ(ranks.site().arm, Arm::own);
  const int before = ranks.agreements;
  ranks.delay_next_agreement(2);
  while (ranks.agreements == before) ranks.call(costs(1 * ms, 2 * ms));
  ranks.native_of(40, costs(4 * ms, 2 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

// What the others wait for the last one, in either arm alike, is no part of what a call costs.
TEST(Governor, LeavesASlowArmUnderALateRankWhereAllReadOneClock) {
  const auto waits = [](Arm arm, int, Rank rank) {
    const double after_the_last = arm == Arm::own ? 50e-6 : 20e-6;
    return after_the_last + (rank == 3 ? 0 : 2 * ms);
  };
  GovernedRanks apart;
  apart.native_of(100, waits);
  EXPECT_EQ(apart.site().arm, Arm::own);
  GovernedRanks ranks;
  ranks.join_at([](int call, Rank rank) { return 5 * ms * call + (rank == 3 ? 2 * ms : 0); });
  ranks.native_of(100, waits);
  EXPECT_EQ(ranks.site().arm, Arm::native);
  EXPECT_NEAR(ranks.site().cost[place_of(Arm::own)], 50e-6, 1e-6);
  EXPECT_NEAR(ranks.site().cost[place_of(Arm::native)], 20e-6, 1e-6);
}

// As the root of a loop of broadcasts, which sends and goes on.
TEST(Governor, WatchesOnWhereRankZeroIsFarAhead) {
  GovernedRanks ranks;
  ranks.put_rank_zero_ahead(50 * ms);
  ranks.native_of(100, costs(1 * ms, 2 * ms));
  ASSERT_EQ(ranks.site().arm, Arm::own);
  const int before = ranks.agreements;
  ranks.native_of(1000, costs(1 * ms, 2 * ms));
  const int agreed = ranks.agreements - before;
  EXPECT_GE(agreed, 4);  // one call's time is half a hundredth of what lies between them
  EXPECT_LE(agreed, 6);  // and no less
  ranks.native_of(240, costs(4 * ms, 2 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

TEST(Judge, TakesInTheLongestTimesAndTheLeastWait) {
  Governor of;
  Governor::Report all{};
  Governor::Report other{};
  of.write_report(all, {.at_work = 1, .waiting = 5});
  of.write_report(other, {.at_work = 2, .waiting = 3});
  Judge::take_in(all, other);
  EXPECT_EQ(all[1], 2);
  EXPECT_EQ(all[2], 5);
  EXPECT_EQ(all[3], 3);
}

// What makes ranks wait may grow without Sibyl's doing.
// Every other fifty calls take `more` times as long.
GovernedRanks::Cost in_phases(double own, double native, double more) {
  return [=](Arm arm, int call, Rank) {
    return (call / 50 % 2 == 0 ? 1 : more) * (arm == Arm::own ? own : native);
  };
}

TEST(Governor, IsAlarmedEverLessWithoutReason) {
  GovernedRanks ranks;
  ranks.native_of(100, costs(1 * ms, 2 * ms));
  const GovernedRanks::Cost unsteady = in_phases(1 * ms, 2 * ms, 1.8);
  ranks.native_of(500, unsteady);
  EXPECT_LT(ranks.native_of(10000, unsteady), 100);
  EXPECT_EQ(ranks.site().arm, Arm::own);
}

// Calls that become three times as long are still half as long as the library's were.
TEST(Governor, IsNotAlarmedWhileTheLibraryTookLonger) {
  GovernedRanks ranks;
  ranks.native_of(100, costs(1 * ms, 6 * ms));
  EXPECT_EQ(ranks.native_of(2000, in_phases(1 * ms, 6 * ms, 3)), 0);
  EXPECT_EQ(ranks.site().arm, Arm::own);
  ranks.native_of(20, costs(8 * ms, 6 * ms));
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

// Phases that no growth covers: the budget does.
TEST(Governor, IsNotAlarmedByEveryPhase) {
  GovernedRanks ranks;
  ranks.native_of(100, costs(1 * ms, 3 * ms));
  const GovernedRanks::Cost unsteady = in_phases(1 * ms, 3 * ms, 20);
  ranks.native_of(1000, unsteady);
  EXPECT_LT(ranks.native_of(20000, unsteady), 200);
  EXPECT_EQ(ranks.site().arm, Arm::own);
}

TEST(Governor, TriesEverMoreRarelyWhereArrivalsChangeAllTheTime) {
  GovernedRanks ranks;
  const GovernedRanks::Cost slow = costs(10 * ms, 1 * ms);
  const auto changing = [&](int calls) {
    int own = 0;
    for (int i = 0; i < calls; ++i) {
      const auto version = static_cast<std::uint64_t>(ranks.site().calls);
      own += ranks.call(slow, GovernedRanks::key_of(1 << 20), version) == Arm::own ? 1 : 0;
    }
    return own;
  };
  ranks.call(slow);
  changing(5000);
  EXPECT_LT(changing(20000), 40);
  EXPECT_EQ(ranks.site().arm, Arm::native);
}

TEST(Governor, TriesSoonerWhereArrivalsHaveChanged) {
  GovernedRanks ranks;
  const GovernedRanks::Cost slow = costs(3 * ms, 1 * ms);
  for (int i = 0; i < 5000; ++i) ranks.call(slow);
  const std::int64_t own_again = ranks.site().next_trial[place_of(Arm::own)];
  const std::int64_t pause = own_again - ranks.site().calls;
  ASSERT_GT(pause, Judge::first_pause);
  const std::int64_t calls = ranks.site().calls;
  for (int i = 0; i < 2 * Judge::first_pause && !ranks.site().trying; ++i) {
    ranks.call(slow, GovernedRanks::key_of(1 << 20), static_cast<std::uint64_t>(i + 1));
  }
  EXPECT_TRUE(ranks.site().trying);
  EXPECT_LE(ranks.site().calls - calls, Judge::first_pause);
}

TEST(Governor, KeepsSitesApart) {
  GovernedRanks ranks;
  const Governor::Key small = GovernedRanks::key_of(1 << 16);
  const Governor::Key other = GovernedRanks::key_of(1 << 16, Collective::reduce, 1);
  const Governor::Key root = GovernedRanks::key_of(1 << 16, Collective::reduce, 2);
  for (int i = 0; i < 100; ++i) {
    ranks.call(costs(3, 1), small);
    ranks.call(costs(1, 3), other);
    ranks.call(costs(3, 1), root);
  }
  EXPECT_EQ(ranks.site(0).arm, Arm::native);
  EXPECT_EQ(ranks.site(1).arm, Arm::own);
  EXPECT_EQ(ranks.site(2).arm, Arm::native);
  EXPECT_TRUE(ranks.site(1).decided);
}

TEST(Governor, FindsAsManySitesAsThereIsRoomFor) {
  GovernedRanks ranks(2);
  std::vector<Governor::Key> keys;
  for (const Collective collective : {Collective::reduce, Collective::bcast}) {
    for (Rank root = 0; root < Governor::most_roots; ++root) {
      for (int bits = 15; bits < 31; ++bits) {
        keys.push_back(GovernedRanks::key_of(1ULL << bits, collective, root));
      }
    }
  }
  ASSERT_EQ(keys.size(), Governor::most_sites);
  // Every other one is slow.
  for (int turn = 0; turn < 60; ++turn) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ranks.call(i % 2 == 0 ? costs(3, 1) : costs(1, 3), keys[i]);
    }
  }
  ASSERT_EQ(ranks.of(0).sites().size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Governor::Site& site = ranks.site(i);
    EXPECT_EQ(site.key, keys[i]);
    EXPECT_EQ(site.calls, 60);
    EXPECT_TRUE(site.decided) << i;
    EXPECT_EQ(site.arm, i % 2 == 0 ? Arm::native : Arm::own) << i;
  }
}

TEST(Governor, LeavesToTheLibraryWhatItHasNoRoomFor) {
  GovernedRanks ranks(2);
  const auto key_of = [](std::size_t i) {
    const Collective collective = i % 4 < 2 ? Collective::reduce : Collective::bcast;
    return GovernedRanks::key_of(1ULL << i / 4, collective, static_cast<Rank>(i % 2));
  };
  for (std::size_t i = 0; i < Governor::most_sites + 3; ++i) ranks.call(costs(1, 1), key_of(i));
  EXPECT_EQ(ranks.of(0).sites().size(), Governor::most_sites);
  const Governor::Key beyond = key_of(Governor::most_sites + 40);
  EXPECT_EQ(ranks.native_of(200, costs(1, 3), beyond), 200);
  EXPECT_EQ(ranks.native_of(50, costs(1, 3), key_of(80)), 5) << "those that are kept are judged";
  // What the library cannot serve is served as chosen.
  Governor::Key request = beyond;
  request.library = false;
  EXPECT_EQ(ranks.native_of(10, costs(3, 1), request), 0);
}

TEST(Governor, FurtherRootsShareASite) {
  GovernedRanks ranks(2);
  constexpr Rank roots = 48;
  const auto of_root = [](Rank root) {
    return GovernedRanks::key_of(1 << 20, Collective::bcast, root);
  };
  int native = 0;
  for (int i = 0; i < 5; ++i) {
    for (Rank root = 0; root < roots; ++root) {
      native += ranks.call(costs(3, 1), of_root(root)) == Arm::native ? 1 : 0;
    }
  }
  const auto sites = ranks.of(0).sites();
  ASSERT_EQ(sites.size(), Governor::most_roots + 1);
  EXPECT_EQ(sites.back().key.root, no_rank);
  EXPECT_EQ(sites.back().calls, 5 * (roots - Governor::most_roots));
  EXPECT_EQ(sites.back().arm, Arm::native);
  EXPECT_GT(native, 4 * (roots - Governor::most_roots));  // only the first calls were tried
  // Those of the first roots are their own, and further ones stay together.
  EXPECT_EQ(ranks.site(0).calls, 5);
  EXPECT_FALSE(ranks.site(0).decided);
  EXPECT_EQ(ranks.call(costs(3, 1), of_root(1000)), Arm::native);
  EXPECT_EQ(ranks.of(1).sites().size(), Governor::most_roots + 1);
  // Another collective has roots of its own.
  ranks.call(costs(1, 3), GovernedRanks::key_of(1 << 20, Collective::reduce, roots));
  EXPECT_EQ(ranks.of(0).sites().back().key.root, roots);
}

// Of each of the first roots, and of all further ones together; the library is faster on one line.
TEST(Governor, LinesHaveSitesOfTheirOwnWhereRootsGoRound) {
  GovernedRanks ranks(2);
  constexpr Rank roots = 8;
  for (int i = 0; i < 200 * roots; ++i) {
    for (const std::int64_t line : {1, 2}) {
      ranks.call(line == 1 ? costs(3, 1) : costs(1, 3),
                 GovernedRanks::key_of(1 << 20, Collective::bcast, i % roots), 0, line);
    }
  }
  std::map<Rank, std::multiset<Arm>> arms;  // by root, of its lines
  for (const Governor::Site& site : ranks.of(1).sites()) {
    if (site.key.line == 0) continue;
    EXPECT_TRUE(site.decided) << site.key.root;
    arms[site.key.root].insert(site.arm);
  }
  EXPECT_EQ(arms.size(), Governor::most_roots + 1);
  for (const auto& [root, of_lines] : arms) {
    EXPECT_EQ(of_lines, (std::multiset{Arm::own, Arm::native})) << root;
  }
}

TEST(Governor, ManySitesTakeTurnsInReports) {
  GovernedRanks ranks(2);
  constexpr std::size_t sizes = 20;
  for (int i = 0; i < 60; ++i) {
    for (std::size_t size = 0; size < sizes; ++size) {
      ranks.call(size % 2 == 0 ? costs(3, 1) : costs(1, 3),
                 GovernedRanks::key_of(governed_from << size, Collective::reduce, 0));
    }
  }
  for (std::size_t size = 0; size < sizes; ++size) {
    const Governor::Site& site = ranks.site(size);
    EXPECT_TRUE(site.decided) << size;
    EXPECT_EQ(site.arm, size % 2 == 0 ? Arm::native : Arm::own) << size;
  }
}

// Two kilobytes of each of 500 ranks are a megabyte at the root.
TEST(Governor, BlocksOfAllRanksMakeALongCall) {
  const auto block_of = [](Rank members) {
    return Governor::key_of(Collective::gather, 0, 2048, OperatorUse::none, true,
                            &algorithms(Collective::gather).front(), nullptr, members);
  };
  GovernedRanks few;
  EXPECT_EQ(few.native_of(1000, costs(3e-6, 1e-6), block_of(1)), 0);
  EXPECT_EQ(few.agreements, 0);
  GovernedRanks many;
  many.native_of(20, costs(3 * ms, 1 * ms), block_of(500));
  EXPECT_EQ(many.site().arm, Arm::native);
}

// A class has calls on both sides of 4 KiB in all, and all ranks know which those are.
TEST(Governor, CallsAreLongByWhatTheyMove) {
  const auto key = [](std::uint64_t bytes) {
    return Governor::key_of(Collective::gather, 0, bytes, OperatorUse::none, true,
                            &algorithms(Collective::gather).front(), nullptr, 48);
  };
  EXPECT_TRUE(key(100).may_send());
  EXPECT_FALSE(key(80).may_send());
  EXPECT_EQ(key(100).size_class, key(80).size_class);
  EXPECT_NE(key(100), key(80));
}

TEST(Governor, ShortCallsSendNothing) {
  GovernedRanks ranks;
  const Governor::Key small = GovernedRanks::key_of(governed_from - 1);
  EXPECT_EQ(ranks.native_of(1000, costs(3e-6, 1e-6), small), 0);
  EXPECT_EQ(ranks.agreements, 0);
}

TEST(Governor, CallsWhoseSizesNotAllRanksKnowHaveTrials) {
  for (const Collective of : {Collective::gatherv, Collective::scatterv, Collective::alltoallv}) {
    GovernedRanks ranks;
    const Governor::Key unknown = GovernedRanks::key_of(0, of, 0);
    EXPECT_FALSE(unknown.is_long());
    ranks.native_of(70, costs(3e-6, 1e-6), unknown);
    EXPECT_EQ(ranks.site().arm, Arm::native);
  }
  GovernedRanks ranks;
  EXPECT_EQ(ranks.native_of(1000, costs(3e-6, 1e-6), GovernedRanks::key_of(0, Collective::barrier)),
            0);
}

TEST(Governor, ShortCallsAreToldOfWithLongOnes) {
  GovernedRanks ranks;
  const Governor::Key small = GovernedRanks::key_of(100);
  for (int i = 0; i < 100; ++i) {
    ranks.call(costs(3e-6, 1e-6), small);
    ranks.call(costs(1 * ms, 2 * ms));
  }
  EXPECT_EQ(ranks.site(0).arm, Arm::native);
  EXPECT_EQ(ranks.site(1).arm, Arm::own);
}

TEST(Governor, CallsThatCannotBeComparedDoNotCount) {
  GovernedRanks ranks;
  // The third rank fails in every other call by the own arm, which is fast then.
  const auto failing = [](Arm arm, int call, Rank rank) {
    if (arm == Arm::native) return 1.0;
    if (call % 2 == 0) return rank == 2 ? Governor::not_comparable : 0.1;
    return 3.0;
  };
  ranks.native_of(70, failing);
  EXPECT_EQ(ranks.site().arm, Arm::native);
  GovernedRanks never;
  never.native_of(70, [](Arm, int, Rank) { return Governor::not_comparable; });
  EXPECT_TRUE(never.site().decided);
  EXPECT_EQ(never.site().arm, Arm::own);
}

TEST(Governor, SwitchesItselfOffWhereRanksAreNotInStep) {
  GovernedRanks ranks;
  ranks.native_of(3, costs(3, 1));
  // One rank alone makes calls of another root.
  ranks.of(2).enter(GovernedRanks::key_of(1 << 20, Collective::reduce, 0), 0);
  ranks.native_of(10, costs(3, 1));
  EXPECT_EQ(ranks.native_of(100, costs(3, 1)), 0);
  EXPECT_TRUE(ranks.of(0).is_off());
  EXPECT_TRUE(ranks.of(3).is_off());
}

// Else its calls of another collective would follow a verdict later than the others'.
TEST(Governor, SwitchesItselfOffWhereOneRankHasMadeOneCallLess) {
  GovernedRanks ranks;
  for (const Rank rank : {0, 1, 3}) {
    EXPECT_EQ(ranks.of(rank).begin_call(), Governor::Step::nothing);
  }
  ranks.native_of(20, costs(3, 1));  // as far as the first report
  EXPECT_EQ(ranks.native_of(100, costs(3, 1)), 0) << "as chosen, for good";
  for (Rank rank = 0; rank < 4; ++rank) EXPECT_TRUE(ranks.of(rank).is_off());
}

}  // namespace
}  // namespace sibyl::test
