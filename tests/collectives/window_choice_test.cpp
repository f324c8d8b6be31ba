// Ranks that have a processor each are served through a window where they share one node: one that
// SIBYL_NODE_WINDOW asks for, or one for those that it is known to pay for; on fewer processors, or
// without a window, the MPI library serves them.
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "cost/placement.hpp"
#include "selection/choose.hpp"
#include "selection/native_library.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// Of all ranks, which the kernel lets run anywhere or where the launcher has bound them.
int processors() {
  cpu_set_t own;
  CPU_ZERO(&own);
  EXPECT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    int here = CPU_ISSET(cpu, &own) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    count += here;
  }
  return count;
}

// Binds this process to one processor while it lives.
class Bound {
 public:
  explicit Bound(int number) {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    int place = number % CPU_COUNT(&before_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_) && place-- == 0) CPU_SET(cpu, &one);
    }
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~Bound() { sched_setaffinity(0, sizeof before_, &before_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_{};
};

TEST(WindowChoice, AsksForAProcessorOfEachRank) {
  const int available = processors();
  const Duplicate comm;
  const std::vector<Rank> all = ranks_of_own_node({.ranks_per_node = size_of()}, 0, size_of());
  if (size_of() > 1 && available > 1) {
    EXPECT_EQ(processors_of(comm.get(), 5, all), available) << "ranks may run anywhere";
  }
  const Bound bound(rank_in());
  constexpr auto enough = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(processors_of(comm.get(), 5, all), size_of() <= available ? enough : available)
      << "of its own, whoever else is here";
}

// Whether ranks that wait give way soon on the window of a communicator that is set up now.
void expect_crowded(MPI_Comm comm, bool crowded) {
  CommunicatorState* const state = CommunicatorState::get(comm);
  ASSERT_TRUE(state->serves(comm, true));
  const NodeWindow* const window = state->node_window();
  EXPECT_TRUE(window == nullptr || window->is_crowded() == crowded);
}

TEST(WindowChoice, WaitsForLessTimeWhereRanksShareProcessors) {
  CommunicatorState* const world = CommunicatorState::get(MPI_COMM_WORLD);
  ASSERT_TRUE(world->serves(MPI_COMM_WORLD, true));
  const auto here = ranks_of_own_node(world->placement(), rank_in(), size_of()).size();
  const bool crowded = static_cast<int>(here) > processors();
  expect_crowded(MPI_COMM_WORLD, crowded);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in() < size_of() / 2 ? 0 : 1, 0, &half);
  expect_crowded(half, crowded);  // the others of the job are here, too
  MPI_Comm_free(&half);
  const Bound bound(0);
  const Duplicate comm;
  expect_crowded(comm.get(), true);
}

TEST(WindowChoice, IsForWhatItPaysForAloneWhereNobodyAsksForOne) {
  if (Process::get()->environment().node_window != window_where_it_pays) GTEST_SKIP();
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  const bool is_known = Process::get()->library() != NativeLibrary::other;
  const bool pays = is_known && size_of() > 1 && size_of() <= 16 && size_of() <= processors() &&
                    state->ranks_per_node() == size_of();
  for (const Collective collective :
       {Collective::reduce, Collective::allreduce, Collective::bcast}) {
    EXPECT_EQ(state->window_for(collective) != nullptr, pays);
  }
  for (const Collective collective :
       {Collective::exscan, Collective::gatherv, Collective::scatter, Collective::alltoall}) {
    EXPECT_EQ(state->window_for(collective), nullptr);
  }
  EXPECT_EQ(state->bytes_for_windows(), 0U) << "of persistent requests";
}

// 256 MiB together, of which the world has some; whoever comes after that goes without.
TEST(WindowChoice, AProcessHasSoMuchForWindowsThatNobodyAskedFor) {
  Process& process = *Process::get();
  if (process.environment().node_window != window_where_it_pays) GTEST_SKIP();
  std::uint32_t taken = 0;
  while (process.take_for_window(1U << 20)) ++taken;
  EXPECT_LE(taken, 256U);
  EXPECT_GT(taken, 100U);
  MPI_Comm without = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &without);
  CommunicatorState* const state = CommunicatorState::get(without);
  ASSERT_TRUE(state->serves(without, true));
  EXPECT_EQ(state->window_for(Collective::allreduce), nullptr);
  for (; taken > 0; --taken) process.give_back_for_window(1U << 20);
  MPI_Comm_free(&without);
}

TEST(WindowChoice, IsTheSameOnAllRanksAndGivesTheRightResult) {
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  const bool may = Process::get()->environment().node_window != 0 && size_of() > 1 &&
                   state->ranks_per_node() == size_of() && size_of() <= processors() &&
                   state->node_window() != nullptr;
  EXPECT_EQ(state->situation(Collective::allreduce, 49152, OperatorUse::predefined).by_window, may);
  // What goes by it also where nobody asked for it, beside any library that is known.
  const NativeLibrary library = Process::get()->library();
  const bool from_64_kib = library == NativeLibrary::mpich_5 || library == NativeLibrary::mpich_41;
  const int count = from_64_kib ? 24576 : 12288;
  std::vector<int> own(static_cast<std::size_t>(count));
  std::vector<int> sum(own.size());
  for (int call = 0; call < 40; ++call) {
    for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = call + i % 100 + rank_in();
    ASSERT_EQ(SIBYL_Allreduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, comm.get()), 0);
    const int of_ranks = size_of() * (size_of() - 1) / 2;
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(sum[static_cast<std::size_t>(i)], size_of() * (call + i % 100) + of_ranks);
    }
  }
  if (state->ranks_per_node() != size_of() || state->governing() == nullptr) return;
  EXPECT_EQ(state->governing()->governor().sites().empty(), !may)
      << "the governor looks at what Sibyl serves";
}

void add_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* const added = static_cast<const double*>(in);
  auto* const sum = static_cast<double*>(inout);
  for (int i = 0; i < 2 * *count; ++i) sum[i] += added[i];
}

// A rank that took a type without gaps for one with some would call the library alone.
TEST(WindowChoice, IsTheSameHoweverEqualTypesWereMade) {
  constexpr int count = 2048;  // 32 KiB
  const Duplicate comm;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  if (rank_in() % 2 == 0) {
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  } else {
    MPI_Type_vector(2, 1, 1, MPI_DOUBLE, &pair);
  }
  MPI_Type_commit(&pair);
  MPI_Op add = MPI_OP_NULL;
  MPI_Op_create(&add_pairs, 1, &add);
  std::vector<double> own(2 * count);
  std::vector<double> sums(own.size());
  for (int call = 0; call < 10; ++call) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = static_cast<double>(call) + static_cast<double>(i % 100) + rank_in();
    }
    std::ranges::fill(sums, -1);
    ASSERT_EQ(SIBYL_Allreduce(own.data(), sums.data(), count, pair, add, comm.get()), 0);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double here = static_cast<double>(call) + static_cast<double>(i % 100);
      ASSERT_EQ(sums[i], size_of() * here + size_of() * (size_of() - 1) / 2.0);
    }
  }
  MPI_Op_free(&add);
  MPI_Type_free(&pair);
}

}  // namespace
}  // namespace sibyl::test
