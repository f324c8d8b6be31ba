// What a program says about arrivals: compared between ranks, numbered, and planned for.
#include <cmath>
#include <limits>
#include <vector>

#include "collectives/harness.hpp"
#include "selection/choose_within.hpp"

namespace sibyl::test {
namespace {

// Rank r arrives at r * step.
std::vector<double> stairs(double step, int ranks = size_of()) {
  std::vector<double> times;
  for (int r = 0; r < ranks; ++r) times.push_back(r * step);
  return times;
}

// The last rank arrives so many seconds after all others.
std::vector<double> one_late(double seconds) {
  std::vector<double> times(static_cast<std::size_t>(size_of()), 0.0);
  times.back() = seconds;
  return times;
}

int set(Served& served, const std::vector<double>& times) {
  return SIBYL_Comm_set_arrivals(served.get(), times.data(), static_cast<int>(times.size()));
}

// Sums of integers of every root, right whatever was said about arrivals.
void expect_right_sums(Served& served, int count) {
  const int size = size_of();
  for (int root = 0; root < size; root += 1 + size / 4) {
    std::vector<std::int64_t> send(static_cast<std::size_t>(count));
    std::vector<std::int64_t> receive(send.size(), -1);
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = rank_in() + static_cast<int>(i) * root;
    ASSERT_EQ(
        SIBYL_Reduce(send.data(), receive.data(), count, MPI_INT64_T, MPI_SUM, root, served.get()),
        MPI_SUCCESS);
    if (rank_in() != root) continue;
    for (std::size_t i = 0; i < receive.size(); ++i) {
      ASSERT_EQ(receive[i],
                size * (size - 1) / 2 + std::int64_t{static_cast<int>(i)} * root * size);
    }
  }
}

TEST(Arrivals, AreKeptFromTheFirstOneOnAndNumbered) {
  Served served(Collective::reduce, nullptr);
  const std::uint64_t before = served.state().arrivals.view()->version;
  std::vector<double> times = stairs(0.5);
  for (double& time : times) time += 100;
  ASSERT_EQ(set(served, times), MPI_SUCCESS);
  EXPECT_EQ(served.state().arrivals.view()->times, stairs(0.5));
  EXPECT_EQ(served.state().arrivals.view()->version, before + 1);
  EXPECT_EQ(served.state().arrivals.view()->spread, 0.5 * (size_of() - 1));
  ASSERT_EQ(SIBYL_Comm_set_arrivals(served.get(), nullptr, 0), MPI_SUCCESS);
  EXPECT_TRUE(served.state().arrivals.view()->times.empty());
  EXPECT_EQ(served.state().arrivals.view()->spread, 0);
}

TEST(Arrivals, ThatCannotBeUsedAreRefusedAtAllRanksAndChangeNothing) {
  Served served(Collective::reduce, nullptr);
  ASSERT_EQ(set(served, stairs(1)), MPI_SUCCESS);
  const SharedView before = served.state().arrivals.view();
  std::vector<double> wrong = stairs(1);
  const bool last = rank_in() == size_of() - 1;
  const auto refused = [&](const std::vector<double>& times) {
    EXPECT_EQ(class_of(set(served, times)), MPI_ERR_ARG);
    EXPECT_EQ(served.state().arrivals.view()->times, before->times);
    EXPECT_EQ(served.state().arrivals.view()->version, before->version);
  };
  if (size_of() > 1) {
    if (last) wrong[0] = 7;  // of one rank only
    refused(wrong);
    refused(last ? stairs(1, size_of() + 1) : stairs(1));
  }
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    wrong = stairs(1);
    wrong.back() = bad;
    refused(wrong);
  }
  refused(stairs(1, size_of() + 1));
  if (size_of() > 1) refused(stairs(2 * longest_spread));
  EXPECT_EQ(class_of(SIBYL_Comm_set_arrivals(served.get(), nullptr, 3)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(SIBYL_Comm_set_arrivals(served.get(), wrong.data(), -1)), MPI_ERR_ARG);
}

TEST(Arrivals, OfAnyPatternGiveRightSums) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 30);
  Served served(Collective::reduce, find_algorithm(Collective::reduce, "clairvoyant"));
  for (int i = 0; i < cases(20); ++i) {
    std::vector<double> times;
    for (int r = 0; r < size_of(); ++r) {
      times.push_back(static_cast<double>(pick(random, 1000)) * 1e-5);
    }
    ASSERT_EQ(set(served, times), MPI_SUCCESS);
    expect_right_sums(served, static_cast<int>(1 + pick(random, 20000)));
  }
}

// The first time a program hands in a pattern nothing has run; later the program that ran last is
// planned at once.
TEST(Arrivals, GovernTheAutomaticChoice) {
  if (size_of() < 2) GTEST_SKIP() << "nothing to choose for one rank";
  Served served(Collective::reduce, nullptr);
  served.state().set_placement({.ranks_per_node = size_of()});  // or two levels would be chosen
  Settings settings = served.state().settings();
  settings.alpha = 100000;  // 100 us
  settings.overhead = 10000;
  settings.beta = 80000;  // 100 Mbit/s
  served.state().replace_settings(settings);
  constexpr int count = 32768;
  // The library's, or, where ranks have a processor each, what a window brings.
  const Situation now = served.state().situation(Collective::reduce, count * sizeof(std::int64_t),
                                                 OperatorUse::predefined);
  const Algorithm* const usual = now.by_window ? choose_within(now) : nullptr;
  expect_right_sums(served, count);
  EXPECT_EQ(served.served_by(), usual);
  ASSERT_EQ(set(served, one_late(10)), MPI_SUCCESS);
  expect_right_sums(served, count);
  EXPECT_EQ(served.served_by(), find_algorithm(Collective::reduce, "clairvoyant"));
  if (size_of() > 3) {  // where many are late knowing it is no gain
    ASSERT_EQ(set(served, stairs(10)), MPI_SUCCESS);
    expect_right_sums(served, count);
    EXPECT_EQ(served.served_by(), usual);
  }
  ASSERT_EQ(set(served, stairs(0)), MPI_SUCCESS);
  expect_right_sums(served, count);
  EXPECT_EQ(served.served_by(), usual);
}

TEST(Arrivals, OnIntercommunicatorsHaveNoEffect) {
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "needs two groups";
  const BetweenHalves between;
  const std::vector<double> times = stairs(1);
  EXPECT_EQ(SIBYL_Comm_set_arrivals(between.get(), times.data(), size), MPI_SUCCESS);
  EXPECT_FALSE(CommunicatorState::get(between.get())->arrivals.view()->known());
}

}  // namespace
}  // namespace sibyl::test
