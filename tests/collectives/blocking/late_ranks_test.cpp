// Allreduces that learn from their own messages who is late, and follow it: the sums stay right,
// and what is in force follows who is late.
#include <chrono>
#include <thread>
#include <vector>

#include "collectives/harness.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr int elements = 5000;

// Served by an algorithm that looks at arrivals, on links that take 1 ms for the vector.
class Learning {
 public:
  explicit Learning(std::string_view algorithm)
      : served_(Collective::allreduce, find_algorithm(Collective::allreduce, algorithm)) {
    Costs costs;
    costs.alpha = costs.overhead = 1e-6;
    costs.beta = 1e-3 / (elements * sizeof(int));
    served_.state().replace_costs(costs);
    Settings settings = served_.state().settings();
    settings.predict = PredictionMode::piggyback;
    served_.state().replace_settings(settings);
  }

  // One call, to which `late` comes after all others have; nobody: -1.
  void call(int late, int number) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in() == late) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::vector<int> vector(elements);
    for (int i = 0; i < elements; ++i) vector[static_cast<std::size_t>(i)] = rank_in() + i + number;
    std::vector<int> sums(elements, -1);
    const bool in_place = number % 3 == 0;
    if (in_place) sums = vector;
    ASSERT_EQ(SIBYL_Allreduce(in_place ? MPI_IN_PLACE : vector.data(), sums.data(), elements,
                              MPI_INT, MPI_SUM, served_.get()),
              MPI_SUCCESS);
    const int size = size_of();
    for (int i = 0; i < elements; ++i) {
      ASSERT_EQ(sums[static_cast<std::size_t>(i)], size * (size - 1) / 2 + size * (i + number))
          << "element " << i;
    }
  }
  void calls(int late, int times) {
    for (int i = 0; i < times; ++i) call(late, i);
  }
  // Waits until this rank is the one that is known to be late, or none is, which is the same on all
  // ranks: machines are busy and other ranks late at times.
  bool learns(int late) {
    for (int i = 0; i < 60; ++i) {
      call(late, i);
      if (known() == late) return true;
    }
    return false;
  }
  int known() {
    const LateRanks* learner = served_.state().arrivals.late_ranks();
    const LateRanks::Site* site =
        learner == nullptr ? nullptr : learner->known(elements * sizeof(int));
    const bool knows = site != nullptr && site->view != nullptr;
    EXPECT_TRUE(all_alike(knows ? static_cast<int>(site->view->version) : 0));
    return knows ? site->view->order.back() : -1;
  }
  CommunicatorState& state() { return served_.state(); }

 private:
  static bool all_alike(int value) {
    int least = 0;
    int most = 0;
    MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
  }
  Served served_;
};

TEST(LateRanksCalls, FollowWhoIsLate) {
  if (size_of() < 3) GTEST_SKIP() << "two ranks are a ring however late one is";
  for (const std::string_view algorithm : {"pre-reduced-ring", "clairvoyant"}) {
    SCOPED_TRACE(std::string(algorithm));
    Learning learning(algorithm);
    ASSERT_TRUE(learning.learns(size_of() - 1));
    const SharedView before =
        learning.state().arrivals.late_ranks()->known(elements * sizeof(int))->view;
    learning.calls(size_of() - 1, 3);
    ASSERT_TRUE(learning.learns(0));
    learning.calls(0, 3);
    const Algorithm* row = find_algorithm(Collective::allreduce, algorithm);
    EXPECT_FALSE(learning.state().programs.holds(*row, before));
  }
}

TEST(LateRanksCalls, ServeAllSizesAndTypesMeanwhile) {
  Learning learning("pre-reduced-ring");
  for (int number = 0; number < 12; ++number) {
    learning.call(number % size_of(), number);
    double one = rank_in();
    double sum = -1;
    ASSERT_EQ(SIBYL_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(sum, size_of() * (size_of() - 1) / 2.0);
  }
}

// Where the same bits are wanted in every run, what is learnt must not choose.
TEST(LateRanksCalls, LearnNothingWhereBitsMustBeTheSame) {
  Learning learning("pre-reduced-ring");
  Settings settings = learning.state().settings();
  settings.reproducible = 1;
  learning.state().replace_settings(settings);
  learning.calls(size_of() - 1, 6);
  EXPECT_EQ(learning.known(), -1);
}

}  // namespace
}  // namespace sibyl::test
