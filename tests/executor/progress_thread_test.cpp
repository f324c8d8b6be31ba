// The progress thread: asks what it has, sleeps otherwise, and lets go of what is withdrawn.
#include "executor/progress_thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

class Work final : public BackgroundWork {
 public:
  Outcome progress() noexcept override {
    ++asked;
    return outcome;
  }
  std::chrono::steady_clock::time_point expected() const noexcept override { return expects; }
  std::atomic<Outcome> outcome = Outcome::waiting;
  std::atomic<std::chrono::steady_clock::time_point> expects{};
  std::atomic<int> asked = 0;
};

bool within_seconds(double seconds, const std::atomic<int>& asked, int wanted) {
  for (int i = 0; i < seconds * 1000; ++i) {
    if (asked >= wanted) return true;
    usleep(1000);
  }
  return false;
}

TEST(ProgressThread, UsesNoProcessorWhileThereIsNothingToDo) {
  ProgressThread thread;
  Work work;
  work.outcome = BackgroundWork::Outcome::ended;
  thread.submit(work);
  ASSERT_TRUE(within_seconds(10, work.asked, 1));
  usleep(20000);
  const double before = thread.processor_seconds();
  const int asked = work.asked;
  usleep(200000);
  EXPECT_EQ(work.asked, asked) << "what has ended is not asked again";
  EXPECT_LT(thread.processor_seconds() - before, 0.05) << "it does not spin";
}

TEST(ProgressThread, AsksTheMoreSeldomTheLongerNothingMoves) {
  ProgressThread thread;
  Work work;
  const auto begin = std::chrono::steady_clock::now();
  thread.submit(work);
  ASSERT_TRUE(within_seconds(10, work.asked, 20));
  const int asked = work.asked;
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(asked, 8 + lasted.count() / 0.004) << "every 4 ms in the end";
  thread.withdraw(work);
  const int at_the_end = work.asked;
  usleep(20000);
  EXPECT_EQ(work.asked, at_the_end) << "withdrawn";
}

TEST(ProgressThread, FindsWhatIsSubmittedLazilyAndIsNotWokenForIt) {
  ProgressThread thread;
  Work work;
  work.outcome = BackgroundWork::Outcome::ended;
  thread.submit_lazily(work);
  ASSERT_TRUE(within_seconds(10, work.asked, 1)) << "it slept";
  thread.submit_lazily(work);
  ASSERT_TRUE(within_seconds(10, work.asked, 2)) << "it dozed";
  const std::uint64_t rounds = thread.rounds();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 2000; ++i) {
    thread.submit_lazily(work);
    thread.withdraw(work);
  }
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(thread.rounds() - rounds, 2 + lasted.count() / 0.004) << "every 4 ms at most";
  usleep(200'000);
  const double before = thread.processor_seconds();
  usleep(100'000);
  EXPECT_LT(thread.processor_seconds() - before, 0.0005) << "it sleeps again";
  thread.submit_lazily(work);
  EXPECT_TRUE(within_seconds(10, work.asked, 3));
}

TEST(ProgressThread, SleepsUntilSomethingIsExpectedButNotForEver) {
  ProgressThread thread;
  Work work;
  const auto begin = std::chrono::steady_clock::now();
  work.expects = begin + std::chrono::hours(1);
  thread.submit(work);
  ASSERT_TRUE(within_seconds(10, work.asked, 4)) << "the prediction may be wrong";
  const int asked = work.asked;
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(asked, 2 + lasted.count() / 0.1) << "a hundred milliseconds are slept at a time";
  // One that has nothing to expect keeps the thread looking at all.
  Work other;
  thread.submit(other);
  EXPECT_TRUE(within_seconds(10, work.asked, asked + 6));
  thread.withdraw(other);
  thread.withdraw(work);
}

TEST(ProgressThread, TakesWorkAgainThatItHadEnded) {
  ProgressThread thread;
  Work work;
  work.outcome = BackgroundWork::Outcome::ended;
  for (int turn = 1; turn <= 20; ++turn) {
    const int asked = work.asked;
    thread.submit(work);
    ASSERT_TRUE(within_seconds(10, work.asked, asked + 1));
  }
}

// Stays at its turn until it is let go.
class SlowWork final : public BackgroundWork {
 public:
  Outcome progress() noexcept override {
    at_turn = true;
    while (held) usleep(100);
    return Outcome::waiting;
  }
  std::chrono::steady_clock::time_point expected() const noexcept override { return expects; }
  const std::chrono::steady_clock::time_point expects =
      std::chrono::steady_clock::now() + std::chrono::hours(1);
  std::atomic<bool> at_turn = false;
  std::atomic<bool> held = false;
};

TEST(ProgressThread, IsWokenByWorkThatComesDuringTheTurnOfOther) {
  ProgressThread thread;
  Work before;
  SlowWork slow;
  Work behind;
  before.expects = slow.expects;
  behind.expects = slow.expects;
  thread.submit(before);
  thread.submit(slow);
  thread.submit(behind);
  ASSERT_TRUE(within_seconds(10, behind.asked, 3));
  double soonest = 1;  // the machine may have other things to do
  for (int turn = 0; turn < 10; ++turn) {
    slow.at_turn = false;
    slow.held = true;
    thread.submit(slow);
    while (!slow.at_turn) usleep(100);
    const int asked = before.asked;  // in this round already
    thread.submit(before);
    const auto begin = std::chrono::steady_clock::now();
    slow.held = false;
    ASSERT_TRUE(within_seconds(10, before.asked, asked + 1));
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    soonest = std::min(soonest, waited.count());
    usleep(2000);  // to sleep again
  }
  EXPECT_LT(soonest, 0.03) << "all else expects nothing for an hour";
  thread.withdraw(before);
  thread.withdraw(slow);
  thread.withdraw(behind);
}

}  // namespace
}  // namespace sibyl::test
