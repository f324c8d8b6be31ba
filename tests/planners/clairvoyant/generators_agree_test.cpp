// All generators give the schedule of the reference, event by event, and every schedule is a
// reduce.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "planners/clairvoyant/schedules.hpp"
#include "sibyl/clairvoyant.hpp"
#include "support/sanitized.hpp"

// Minutes under the thread sanitizer, for code that runs in one thread.
#if defined(__SANITIZE_THREAD__)
#define SIBYL_ONE_THREAD_ONLY() GTEST_SKIP() << "one thread only"
#else
#define SIBYL_ONE_THREAD_ONLY() static_cast<void>(0)
#endif

namespace sibyl {
namespace {

// Runs the schedule with sets of contributions.
void expect_a_reduce(const ClairvoyantRequest& request) {
  const Events events = schedule(Generator::fast, request);
  const std::size_t ranks = request.arrivals.size();
  for (std::uint32_t segment = 0; segment < request.segments; ++segment) {
    std::vector<std::multiset<Rank>> parts(ranks);
    for (std::size_t r = 0; r < ranks; ++r) parts[r] = {static_cast<Rank>(r)};
    for (std::size_t begin = 0; begin < events.size();) {
      std::size_t end = begin;
      while (end < events.size() && events[end].round == events[begin].round) ++end;
      auto before = parts;  // messages of one round cross each other
      std::vector<std::pair<Rank, std::multiset<Rank>>> messages;
      for (; begin < end; ++begin) {
        const ClairvoyantEvent& event = events[begin];
        if (event.segment != segment) continue;
        messages.emplace_back(event.receiver, before[static_cast<std::size_t>(event.sender)]);
        parts[static_cast<std::size_t>(event.sender)].clear();
      }
      for (auto& [receiver, message] : messages) {
        parts[static_cast<std::size_t>(receiver)].insert(message.begin(), message.end());
      }
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      ASSERT_EQ(parts[r].size(), static_cast<Rank>(r) == request.root ? ranks : 0U)
          << text_of(request) << " segment " << segment << " rank " << r;
    }
    const auto& all = parts[static_cast<std::size_t>(request.root)];
    ASSERT_EQ(std::set<Rank>(all.begin(), all.end()).size(), ranks) << text_of(request);
  }
}

class Agreement : public testing::Test {
 protected:
  std::size_t between(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  // One of the kinds of instances that issue and paper name.
  std::vector<double> arrivals(std::size_t ranks, double& round_time, Rank root) {
    std::vector<double> times(ranks);
    const std::size_t kind = between(0, 6);
    round_time = real(0.001, 1);
    for (std::size_t r = 0; r < ranks; ++r) {
      switch (kind) {
        case 0:
          times[r] = real(0, static_cast<double>(ranks) + 0.1);
          break;  // uniform
        case 1:
          times[r] = real(0, 3);
          break;  // dense
        case 2:
          times[r] = 0.25 * static_cast<double>(between(0, 2 * ranks));
          break;  // tied
        case 3:
          times[r] = 0.5 * static_cast<double>(r);
          break;  // fixed step
        case 4:
          times[r] = r + 1 == ranks ? static_cast<double>(ranks) : 0;
          break;  // skewed
        case 5:
          times[r] = static_cast<Rank>(r) == root ? 7.5 : real(0, 2);
          break;  // late root
        default:
          times[r] = static_cast<double>(between(0, 3));
          break;  // tied, dense
      }
    }
    if (kind == 2 || kind == 3 || kind == 6) round_time = 0.25 * static_cast<double>(between(1, 6));
    return times;
  }
  ClairvoyantRequest request(std::size_t ranks, std::uint32_t segments) {
    const auto root = static_cast<Rank>(between(0, ranks - 1));
    double round_time = 1;
    arrivals_ = arrivals(ranks, round_time, root);
    return {arrivals_, segments, round_time, root,
            between(0, 1) == 0 ? RootOrder::first : RootOrder::availability};
  }

  std::mt19937 random_{20261121};
  std::vector<double> arrivals_;
};

TEST_F(Agreement, SmallInstancesOfEveryKind) {
  for (int i = 0; i < 3000; ++i) {
    expect_the_same(request(between(1, 12), static_cast<std::uint32_t>(between(0, 10))));
    if (HasFailure()) return;
  }
}

TEST_F(Agreement, InstancesOfAtMost64ProcessesAndSegments) {
  for (int i = 0; i < 100; ++i) {
    expect_the_same(request(between(25, 40), static_cast<std::uint32_t>(between(25, 40))), false);
    expect_the_same(request(between(1, 24), static_cast<std::uint32_t>(between(1, 64))), false);
    expect_the_same(request(between(1, 64), static_cast<std::uint32_t>(between(1, 24))), false);
    if (HasFailure()) return;
  }
  expect_the_same(request(64, 24), false);
  expect_the_same(request(24, 64), false);
  expect_the_same(request(64, 64), false);
}

TEST_F(Agreement, InstancesAroundTheEdgesOfWords) {
  for (int i = 0; i < (sanitized ? 15 : 60); ++i) {
    expect_the_same(request(between(60, 70), static_cast<std::uint32_t>(between(60, 70))), i < 10);
    expect_the_same(request(between(2, 9), static_cast<std::uint32_t>(between(120, 132))));
    expect_the_same(request(between(120, 132), static_cast<std::uint32_t>(between(1, 9))));
    if (HasFailure()) return;
  }
}

TEST_F(Agreement, SeveralHundredProcessesAndSegments) {
  SIBYL_ONE_THREAD_ONLY();
  for (int i = 0; i < (sanitized ? 1 : 7); ++i) {
    expect_the_same(request(between(200, 300), static_cast<std::uint32_t>(between(150, 260))),
                    false);
    if (HasFailure()) return;
  }
  expect_the_same(request(700, 65), false);
  if (!sanitized) expect_the_same(request(512, 512), false);
}

// Several vectors per row and column, each of whose units is counted on its own, or never.
TEST_F(Agreement, MoreThan512ProcessesAndSegments) {
  SIBYL_ONE_THREAD_ONLY();
  const auto spread = [&](std::size_t ranks) {
    std::vector<double> times(ranks);
    for (double& time : times) time = real(0, 1400);
    return times;
  };
  if (sanitized) {
    expect_the_same({spread(560), 35, 0.5, 17}, false);
    expect_the_same({spread(35), 560, 0.5, 17}, false);
    return;
  }
  std::vector<double> late(600, 0.0);
  late.back() = 900;
  expect_the_same({late, 1100, 1.0, 0}, false);
  expect_the_same({spread(560), 530, 0.5, 17}, false);
}

// `fast` goes about rounds with few members in another way, and changes between ways as they come
// and go: 64 and 128 members are limits, and 24 where there are more segments than that.
TEST_F(Agreement, GroupsThatGrowAndShrinkPastTheLimitsOfAWay) {
  for (const std::size_t burst : {20U, 60U, 70U, 125U, 140U}) {
    for (const std::uint32_t segments : {1U, 2U, 4U, 5U, 24U, 25U, 33U}) {
      std::vector<double> times(burst + 60);
      for (std::size_t r = 0; r < times.size(); ++r) {
        // Alone or a few at first, then many at once, then few again, then many again.
        times[r] = r < 20 ? real(0, 30) : r < burst ? real(40, 42) : real(60, 200);
        if (r >= times.size() - 25) times[r] = real(250, 251);
      }
      std::shuffle(times.begin(), times.end(), random_);
      const auto root = static_cast<Rank>(between(0, times.size() - 1));
      for (const RootOrder order : {RootOrder::first, RootOrder::availability}) {
        expect_the_same({times, segments, 1.0, root, order}, false);
      }
      if (HasFailure()) return;
    }
  }
}

// The same with ties, members exactly one round behind the head among them, and with a root that
// comes last of all.
TEST_F(Agreement, GroupsOfEveryWayWithTiesAndALateRoot) {
  for (const std::size_t ranks : {65U, 100U, 128U, 150U}) {
    for (const std::uint32_t segments : {1U, 2U, 3U, 4U, 6U, 26U}) {
      std::vector<double> times(ranks);
      for (double& time : times) time = 0.5 * static_cast<double>(between(0, ranks / 20));
      const auto root = static_cast<Rank>(between(0, ranks - 1));
      expect_the_same({times, segments, 1.0, root, RootOrder::availability}, false);
      times[static_cast<std::size_t>(root)] = 300;
      expect_the_same({times, segments, 1.0, root, RootOrder::first}, false);
      expect_the_same({times, segments, 1.0, root, RootOrder::availability}, false);
      if (HasFailure()) return;
    }
  }
}

// Few are there at a time: places are given out anew many times.
TEST_F(Agreement, ManyProcessesOfWhichFewAreThereAtATime) {
  for (int i = 0; i < (sanitized ? 2 : 4); ++i) {
    std::vector<double> times(sanitized ? between(600, 700) : between(1500, 2500));
    for (double& time : times) time = real(0, static_cast<double>(times.size()));
    if (i % 2 == 1) {  // ties
      for (double& time : times) time = std::floor(2 * time) / 2;
    }
    const auto root = static_cast<Rank>(between(0, times.size() - 1));
    expect_the_same(
        {times, static_cast<std::uint32_t>(between(2, 70)), i % 2 == 1 ? 1.0 : 0.7, root}, false);
    if (HasFailure()) return;
  }
}

TEST_F(Agreement, EveryScheduleIsAReduce) {
  for (int i = 0; i < 400; ++i) {
    expect_a_reduce(request(between(1, 20), static_cast<std::uint32_t>(between(1, 8))));
    if (HasFailure()) return;
  }
}

TEST_F(Agreement, NobodySendsOrReceivesTwiceInARound) {
  for (int i = 0; i < 200; ++i) {
    std::set<std::tuple<std::uint32_t, bool, Rank>> seen;
    for (const ClairvoyantEvent& event :
         schedule(Generator::fast,
                  request(between(2, 40), static_cast<std::uint32_t>(between(1, 40))))) {
      EXPECT_TRUE(seen.insert({event.round, true, event.sender}).second);
      EXPECT_TRUE(seen.insert({event.round, false, event.receiver}).second);
    }
  }
}

TEST_F(Agreement, TheEventsOfOneRankAreThoseOfTheWholeSchedule) {
  for (int i = 0; i < 300; ++i) {
    const bool is_large = i % 10 == 0;
    const ClairvoyantRequest asked =
        request(is_large ? between(65, 140) : between(1, 20),
                static_cast<std::uint32_t>(between(0, is_large ? 5 : 20)));
    const Events all = schedule(Generator::linear, asked);
    for (const Generator generator : clairvoyant_generators()) {
      const auto rank = static_cast<Rank>(between(0, asked.arrivals.size() - 1));
      Events expected;
      std::copy_if(all.begin(), all.end(), std::back_inserter(expected),
                   [&](const auto& e) { return e.sender == rank || e.receiver == rank; });
      const ClairvoyantSchedule one = make_clairvoyant(generator, asked, rank);
      EXPECT_EQ(one.problem, "");
      EXPECT_TRUE(std::ranges::equal(one.events.view(), expected)) << text_of(asked);
    }
  }
}

TEST_F(Agreement, RoundByRoundItIsTheSameSchedule) {
  for (int i = 0; i < 300; ++i) {
    const bool is_large = i % 10 == 0;
    const ClairvoyantRequest asked =
        request(is_large ? between(65, 140) : between(1, 30),
                static_cast<std::uint32_t>(between(0, is_large ? 80 : 30)));
    ClairvoyantRounds rounds(asked);
    std::size_t made = 0;
    while (!rounds.complete()) {
      const bool ended = rounds.next();
      EXPECT_EQ(ended, rounds.complete());
      // All events of one round, or none where nobody can send.
      const auto events = rounds.schedule().events.view();
      if (made > 0 && made < events.size()) {
        EXPECT_GT(events[made].round, events[made - 1].round);
      }
      if (made < events.size()) {
        EXPECT_EQ(events[made].round, events.back().round);
      }
      made = events.size();
    }
    EXPECT_TRUE(rounds.next());
    EXPECT_EQ(rounds.schedule().problem, "");
    EXPECT_TRUE(
        std::ranges::equal(rounds.schedule().events.view(), schedule(Generator::linear, asked)))
        << text_of(asked);
  }
}

TEST_F(Agreement, RoundsOfABadRequestAreCompleteAndSayWhy) {
  const std::vector times{0.0, -1.0};
  ClairvoyantRounds rounds({times, 4, 1.0, 0});
  EXPECT_TRUE(rounds.complete());
  EXPECT_NE(rounds.schedule().problem.find("negative"), std::string::npos);
}

}  // namespace
}  // namespace sibyl
