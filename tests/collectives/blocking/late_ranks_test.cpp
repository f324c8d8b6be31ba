// Allreduces that learn from their own messages who is late, and follow it: the sums stay right,
// and what is in force follows who is late.
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "collectives/harness.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr int elements = 5000;

// Two lines of a program: each returns to here, and not at once to who called it.
[[gnu::noinline]] int sum_here(const void* send, int* sums, MPI_Comm comm) {
  const int error = SIBYL_Allreduce(send, sums, elements, MPI_INT, MPI_SUM, comm);
  return error == MPI_SUCCESS ? error : -1;
}
[[gnu::noinline]] int sum_there(const void* send, int* sums, MPI_Comm comm) {
  const int error = SIBYL_Allreduce(send, sums, elements, MPI_INT, MPI_SUM, comm);
  return error == MPI_SUCCESS ? error : -2;
}

// Served by an algorithm that looks at arrivals, on links that take 10 ms for the vector: a rank is
// late from 5 ms on, which others are on a busy machine only now and then.
class Learning {
 public:
  explicit Learning(std::string_view algorithm, MPI_Comm parent = MPI_COMM_WORLD,
                    const std::optional<Placement>& placement = std::nullopt)
      : served_(Collective::allreduce, find_algorithm(Collective::allreduce, algorithm), parent) {
    if (placement.has_value()) served_.state().set_placement(*placement);
    Costs costs;
    costs.alpha = costs.overhead = 1e-6;
    costs.beta = 10e-3 / (elements * sizeof(int));
    served_.state().replace_costs(costs);
    Settings settings = served_.state().settings();
    settings.predict = PredictionMode::piggyback;
    served_.state().replace_settings(settings);
  }

  // One call, to which `late` comes after all others have; nobody: -1.
  void call(int late, int number, bool there = false) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::vector<int> vector(elements);
    for (int i = 0; i < elements; ++i) vector[static_cast<std::size_t>(i)] = rank_in() + i + number;
    std::vector<int> sums(elements, -1);
    const bool in_place = number % 3 == 0;
    if (in_place) sums = vector;
    const void* send = in_place ? MPI_IN_PLACE : vector.data();
    ASSERT_EQ((there ? sum_there : sum_here)(send, sums.data(), served_.get()), MPI_SUCCESS);
    const int size = size_of();
    for (int i = 0; i < elements; ++i) {
      ASSERT_EQ(sums[static_cast<std::size_t>(i)], size * (size - 1) / 2 + size * (i + number))
          << "element " << i;
    }
  }
  void calls(int late, int times) {
    for (int i = 0; i < times; ++i) call(late, i);
  }
  // Waits until this rank is the one that is known to be late: others are at times, and where it
  // does not pay to know it the next 64 calls do without.
  bool learns(int late) {
    for (int i = 0; i < 300; ++i) {
      call(late, i);
      if (known() == late) return true;
    }
    return false;
  }
  int known() {
    const SharedView in_force = view();
    return in_force == nullptr ? -1 : in_force->order.back();
  }
  SharedView view() {
    const LateRanks* learner = served_.state().arrivals.late_ranks();
    const LateRanks::Site* site =
        learner == nullptr ? nullptr : learner->known(elements * sizeof(int));
    SharedView in_force = site == nullptr ? nullptr : site->next_view();
    EXPECT_TRUE(all_alike(in_force == nullptr ? 0 : static_cast<int>(in_force->version)));
    return in_force;
  }
  CommunicatorState& state() { return served_.state(); }
  MPI_Comm comm() const { return served_.get(); }

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
        learning.state().arrivals.late_ranks()->known(elements * sizeof(int))->next_view();
    learning.calls(size_of() - 1, 3);
    ASSERT_TRUE(learning.learns(0));
    learning.calls(0, 3);
    const Algorithm* row = find_algorithm(Collective::allreduce, algorithm);
    EXPECT_FALSE(learning.state().programs.holds(*row, before));
  }
}

// Of a node of two ranks now this one is late and now that one: the node is.
TEST(LateRanksCalls, FollowWhichNodeIsLate) {
  if (size_of() < 5) GTEST_SKIP() << "two nodes are a ring however late one is";
  const int last = size_of() - 1;
  std::vector<Rank> nodes;
  for (Rank rank = 0; rank <= last; ++rank) nodes.push_back(rank / 2);
  nodes.back() = nodes.front();  // not a run of ranks
  const Placement placement{.nodes = nodes, .count = nodes[nodes.size() - 2] + 1};
  Learning learning("two-level", MPI_COMM_WORLD, placement);
  const auto follows = [&](int one, int other) {
    for (int i = 0; i < 300; ++i) {
      learning.call(i % 2 == 0 ? one : other, i);
      const SharedView view = learning.view();
      if (view == nullptr) continue;
      const auto at = [&](int rank) { return view->times[static_cast<std::size_t>(rank)]; };
      if (at(one) > 0 && at(one) == at(other)) return true;
    }
    return false;
  };
  EXPECT_TRUE(follows(0, last));
  EXPECT_TRUE(follows(2, 3));
}

// With another late rank at each of two lines, each follows its own.
TEST(LateRanksCalls, FollowWhoIsLateAtEachLine) {
  if (size_of() < 3) GTEST_SKIP() << "two ranks are a ring however late one is";
  Learning learning("pre-reduced-ring");
  const int late[] = {0, size_of() - 1};
  int right_in_a_row = 0;
  for (int i = 0; i < 1500 && right_in_a_row < 6; ++i) {
    const int line = i % 2;
    right_in_a_row = learning.known() == late[line] ? right_in_a_row + 1 : 0;
    learning.call(late[line], i, line == 1);
  }
  EXPECT_EQ(right_in_a_row, 6);
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

// Phases in which this rank or that one, several or nobody is late, some for a call only, in sums
// of several sizes on communicators of all ranks and of some.
TEST(LateRanksCalls, SumRightWhoeverIsLateAndWhenever) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in() % 2, -rank_in(), &halves);
  {
    const Learning all("pre-reduced-ring");
    const Learning other("clairvoyant");
    const Learning half("pre-reduced-ring", halves);
    std::uint64_t late = 0;
    const int turns = cases(long_tests() ? 3000 : 100);
    for (int turn = 0; turn < turns; ++turn) {
      if (pick(random, 12) == 0) late = random() & random();
      const bool once = pick(random, 10) == 0;
      const std::uint64_t now = once ? random() : late;
      const int count = pick(random, 2) == 0 ? elements : elements / 2;
      const Learning& learning = pick(random, 3) == 0 ? half : pick(random, 2) == 0 ? all : other;
      if ((now >> rank_in() & 1) != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(8));
      }
      std::vector<int> own(static_cast<std::size_t>(count), rank_in() + turn);
      std::vector<int> sums(own.size(), -1);
      std::vector<int> right(own.size(), -2);
      ASSERT_EQ(SIBYL_Allreduce(own.data(), sums.data(), count, MPI_INT, MPI_SUM, learning.comm()),
                MPI_SUCCESS);
      PMPI_Allreduce(own.data(), right.data(), count, MPI_INT, MPI_SUM, learning.comm());
      ASSERT_EQ(sums, right) << "turn " << turn;
    }
  }
  MPI_Comm_free(&halves);
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
