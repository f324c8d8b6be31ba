// The common clock: what it says of clocks that are off, and whether its error is honest.
#include "arrival_service/clock.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "arrival/splitmix64.hpp"
#include "arrival_service/clocks.hpp"
#include "cost/placement.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// How far the common clock is from rank 0's clock now, in seconds.
double distance(const CommonClock& clock, std::chrono::steady_clock::time_point now) {
  return static_cast<double>(clock.common(now) - clock_of(0).at(now)) * 1e-9;
}

TEST(CommonClock, IsTheLocalOneOnOneHost) {
  CommonClock clock;
  clock.synchronise(MPI_COMM_WORLD, 17);
  EXPECT_FALSE(clock.several_hosts());
  EXPECT_EQ(clock.common(123456789), 123456789);
  EXPECT_EQ(clock.error(123456789), 0);
}

TEST(CommonClock, FindsOffsetsWithinItsError) {
  const int rank = rank_in();
  CommonClock clock(clock_of(rank), 1e-2);
  clock.synchronise(MPI_COMM_WORLD, rank);
  const auto now = std::chrono::steady_clock::now();
  const double error = clock.error(clock.local().at(now));
  EXPECT_LE(std::abs(distance(clock, now)), error + 1e-9);
  EXPECT_LT(error, 1.0);  // the clocks are seconds apart
}

TEST(CommonClock, StaysWithinItsErrorAsClocksDrift) {
  const int rank = rank_in();
  CommonClock clock(clock_of(rank), 1e-2);
  for (int i = 0; i < 3; ++i) {
    clock.synchronise(MPI_COMM_WORLD, rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const auto now = std::chrono::steady_clock::now();
    EXPECT_LE(std::abs(distance(clock, now)), clock.error(clock.local().at(now)) + 2e-9);
  }
}

TEST(CommonClock, IsTheSameForAllRanksOfAHost) {
  const int rank = rank_in();
  const int host = rank / 3;
  CommonClock clock(clock_of(host), 1e-2);
  clock.synchronise(MPI_COMM_WORLD, host);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_LE(std::abs(distance(clock, now)), clock.error(clock.local().at(now)) + 1e-9);
}

// Hosts that lie on one machine (sibyl cluster) read one clock without knowing it, so that what the
// comparison finds must be 0 within its error.
TEST(CommonClock, FindsNothingBetweenHostsOfOneMachine) {
  CommonClock clock;
  clock.synchronise(MPI_COMM_WORLD, host_number());
  const std::int64_t now = clock.local().now();
  EXPECT_LE(std::abs(static_cast<double>(clock.common(now) - now)) * 1e-9, clock.error(now));
  EXPECT_EQ(clock.error(now) > 0, clock.several_hosts() && rank_in() > 0);
  EXPECT_LT(clock.error(now), 1.0);
}

// Without messages: replies of a clock that is `true_offset` ahead and gains `drift`, with round
// trips of 10 to 50 microseconds, unevenly divided between the two ways.
void exchange(CommonClock& clock, std::int64_t from, std::int64_t true_offset, double drift,
              SplitMix64& random) {
  clock.begin_comparison();
  std::int64_t now = from;
  for (int i = 0; i < 24; ++i) {
    const auto there = static_cast<std::int64_t>(5'000 + 20'000 * random.next_unit());
    const auto back = static_cast<std::int64_t>(5'000 + 20'000 * random.next_unit());
    const std::int64_t at = now + there;
    clock.compare(now, at + back,
                  at + true_offset + static_cast<std::int64_t>(drift * static_cast<double>(at)));
    now = at + back + 1'000;
  }
  clock.end_comparison(0);
}

TEST(CommonClock, LearnsTheDriftFromTwoComparisons) {
  constexpr double drift = 40e-6;
  SplitMix64 random(3);
  CommonClock clock{LocalClock{}};
  const auto off = [&](std::int64_t local) {
    return std::abs(static_cast<double>(clock.common(local) - local - 5 * second) * 1e-9 -
                    drift * static_cast<double>(local) * 1e-9);
  };
  exchange(clock, 0, 5 * second, drift, random);
  // Before the second comparison the drift is unknown: the error must allow for it.
  EXPECT_GT(off(10 * second), 300e-6);
  EXPECT_LE(off(10 * second), clock.error(10 * second));
  exchange(clock, 10 * second, 5 * second, drift, random);
  EXPECT_LT(off(20 * second), 20e-6);
  EXPECT_LE(off(20 * second), clock.error(20 * second));
  EXPECT_LT(clock.error(20 * second), 100e-6);
}

TEST(CommonClock, CountsTheErrorOfTheRankThatItAsked) {
  CommonClock clock{LocalClock{}};
  clock.begin_comparison();
  clock.compare(0, 1000, 500);
  clock.end_comparison(0.25);
  EXPECT_GT(clock.error(500), 0.25);
  EXPECT_LT(clock.error(500), 0.2501);
}

// Messages that lie about for long: some answers tell little, but none of them misleads.
TEST(CommonClock, IsNarrowedDownByWhateverAnswersComeLater) {
  constexpr double drift = 40e-6;
  SplitMix64 random(5);
  CommonClock clock{LocalClock{}};
  exchange(clock, 0, 5 * second, drift, random);
  const CommonClock left_alone = clock;
  for (std::int64_t sent = 10 * second; sent < 60 * second; sent += second) {
    const auto slow = static_cast<double>(second) * (random.next_unit() < 0.2 ? 1e-4 : 4e-3);
    const std::int64_t there = sent + static_cast<std::int64_t>(slow * random.next_unit());
    const std::int64_t back = there + static_cast<std::int64_t>(slow * random.next_unit());
    const auto moved = static_cast<std::int64_t>(drift * static_cast<double>(there));
    clock.narrow(sent, back, there + 5 * second + moved);
    const double off = static_cast<double>(clock.common(back) - back - 5 * second) * 1e-9 -
                       drift * static_cast<double>(back) * 1e-9;
    EXPECT_LE(std::abs(off), clock.error(back));
    EXPECT_LE(clock.error(back), left_alone.error(back) + 1e-8);
  }
  EXPECT_LT(clock.error(60 * second), 400e-6);
  EXPECT_GT(left_alone.error(60 * second), 5e-3);
}

TEST(CommonClock, FollowsAClockThatHasBeenSet) {
  CommonClock clock{LocalClock{}};
  SplitMix64 random(7);
  exchange(clock, 0, 5 * second, 0, random);
  clock.narrow(10 * second, 10 * second + 1000, 10 * second + 500 + 9 * second);
  EXPECT_NEAR(static_cast<double>(clock.common(10 * second) - 10 * second), 9e9, 2000);
}

TEST(CommonClock, CountsOnlyWhatSeparatesItFromItsLeader) {
  const int rank = rank_in();
  const int leader = size_of() - 1;
  CommonClock clock(clock_of(rank), 1e-2);
  clock.synchronise(MPI_COMM_WORLD, rank);
  clock.follow(MPI_COMM_WORLD, leader);
  const auto now = std::chrono::steady_clock::now();
  const std::int64_t common = clock.common(now);
  const double error = clock.error(clock.local().at(now));
  std::int64_t leaders = common;
  const std::int64_t true_time = LocalClock{}.at(now);
  std::int64_t leaders_true_time = true_time;
  MPI_Bcast(&leaders, 1, MPI_INT64_T, leader, MPI_COMM_WORLD);
  MPI_Bcast(&leaders_true_time, 1, MPI_INT64_T, leader, MPI_COMM_WORLD);
  // Drift since the leader has looked counts too.
  const double apart = static_cast<double>(common - leaders - (true_time - leaders_true_time));
  const double between = std::abs(static_cast<double>(true_time - leaders_true_time)) * 1e-9;
  EXPECT_LE(std::abs(apart) * 1e-9, error + 1e-9 + 1e-2 * between);
  if (rank == leader) {
    EXPECT_EQ(error, 0);
  }
}

TEST(CommonClock, OwnsUpToKnowingNothingWithoutAReply) {
  CommonClock clock{LocalClock{}};
  clock.begin_comparison();
  clock.end_comparison(0);
  EXPECT_TRUE(std::isinf(clock.error(0)));
}

// What was held of the clocks before the failure is no comparison.
TEST(CommonClock, LearnsNoDriftFromAComparisonThatFailed) {
  SplitMix64 random(3);
  CommonClock clock{LocalClock{}};
  clock.begin_comparison();
  clock.end_comparison(0);
  exchange(clock, 1000 * second, 5 * second, 0, random);
  const std::int64_t later = 1010 * second;
  const auto off = static_cast<double>(clock.common(later) - later - 5 * second) * 1e-9;
  EXPECT_LE(std::abs(off), clock.error(later));
  EXPECT_LT(std::abs(off), 1e-3);
}

}  // namespace
}  // namespace sibyl::test
