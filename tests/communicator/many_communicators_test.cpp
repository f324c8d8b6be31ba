// More communicators than the budget or the MPI library gives, and several threads at once.
#include <thread>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "communicator/served.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"
#include "support/taken_budget.hpp"

namespace sibyl::test {
namespace {

void expect_scan(MPI_Comm comm, int calls = 1) {
  for (int call = 0; call < calls; ++call) {
    const int value = call + 1;
    int sum = -1;
    ASSERT_EQ(SIBYL_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    ASSERT_EQ(sum, (rank_in(comm) + 1) * value);
  }
}

// To rank 0, in the order of arrival where that is known, after one iteration.
SIBYL_Request gather_of(MPI_Comm comm) {
  static constexpr int bytes = 8192;
  static std::vector<char> send(bytes);
  static std::vector<char> receive;
  receive.resize(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(size_of(comm)));
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  EXPECT_EQ(SIBYL_Gather_init(send.data(), bytes, MPI_BYTE, receive.data(), bytes, MPI_BYTE, 0,
                              comm, MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
  EXPECT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
  return request;
}

TEST(ManyCommunicators, BeyondTheBudgetTakeThePlaceOfTheLeastRecentlyUsed) {
  if (thread_level() == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "another thread might be using it";
  {
    const Duplicate first;
    const Duplicate second;
    expect_scan(first.get());
    expect_scan(second.get());
    expect_scan(first.get());
    const TakenBudget taken;
    const Duplicate third;
    expect_scan(third.get());
    EXPECT_TRUE(served(third.get()));
    EXPECT_TRUE(served(first.get()));
    EXPECT_FALSE(served(second.get()));
    expect_scan(second.get(), 3);  // by the MPI library, or again in the place of another
  }
}

// The one with a request, the longest not used, is not asked for its place, as another can give it.
TEST(ManyCommunicators, BeyondTheBudgetLeaveThoseWithRequestsAlone) {
  if (thread_level() == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "another thread might be using it";
  const Duplicate first;
  const Duplicate second;
  SIBYL_Request request = gather_of(first.get());
  expect_scan(second.get());
  const TakenBudget taken;
  const Duplicate third;
  expect_scan(third.get());
  EXPECT_TRUE(served(third.get()));
  EXPECT_TRUE(served(first.get()));
  EXPECT_FALSE(served(second.get()));
  EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
}

// Its root has freed the request before the others had: what it has kept for their last messages
// holds the communicator no longer.
TEST(ManyCommunicators, BeyondTheBudgetTakeThePlaceOfOneWhoseRequestsAreFreed) {
  if (thread_level() == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "another thread might be using it";
  const Duplicate first;
  const Duplicate second;
  SIBYL_Request request = gather_of(first.get());
  if (rank_in() != 0) MPI_Barrier(MPI_COMM_WORLD);  // until the root has
  EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
  if (rank_in() == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_scan(second.get());
  const TakenBudget taken;
  const Duplicate third;
  expect_scan(third.get());
  EXPECT_TRUE(served(third.get()));
  EXPECT_FALSE(served(first.get()));
  EXPECT_TRUE(served(second.get()));
}

TEST(ManyCommunicators, BeyondTheBudgetAreServedByTheMpiLibraryWhereNoneCanBeGivenUp) {
  {
    const TakenBudget taken;  // on one rank: all ranks must go native together
    // No other communicator has a private one that it could give up.
    const Duplicate comm;
    MPI_Comm_set_errhandler(comm.get(), MPI_ERRORS_ARE_FATAL);
    expect_scan(comm.get());
    EXPECT_FALSE(served(comm.get()));
    int mine = rank_in();
    std::vector<int> all(static_cast<std::size_t>(size_of()), -1);
    EXPECT_EQ(SIBYL_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm.get()), MPI_SUCCESS);
  }
  const Duplicate comm;
  expect_scan(comm.get());
  EXPECT_TRUE(served(comm.get())) << "the budget came back";
}

TEST(ManyCommunicators, GiveTheirPrivateOneBackWhenTheyAreFreed) {
  const int rounds = size_of() > 5 ? 30 : 300;  // the budget is 256
  for (int i = 0; i < rounds; ++i) {
    const Duplicate comm(MPI_COMM_SELF);
    expect_scan(comm.get());
    ASSERT_TRUE(served(comm.get())) << "communicator " << i;
  }
}

// MPICH ends at about 2000 contexts. Running out while Sibyl sets up is no error of the user's.
TEST(ManyCommunicators, SurviveTheEndOfContexts) {
  if (std::string_view(SIBYL_FLAVOUR) != "mpich") GTEST_SKIP() << "contexts do not run out";
  if (size_of() > 3) GTEST_SKIP() << "the same for every number of ranks, and slow with many";
  std::vector<MPI_Comm> all;
  const Duplicate parent;
  while (all.size() < 4000) {
    MPI_Comm made = MPI_COMM_NULL;
    if (MPI_Comm_dup(parent.get(), &made) != MPI_SUCCESS) break;
    all.push_back(made);
  }
  ASSERT_LT(all.size(), 4000U) << "this test no longer tests anything";
  // Not one context is left: the last one stays with the MPI library, silently.
  MPI_Comm_set_errhandler(all.back(), MPI_ERRORS_ARE_FATAL);
  expect_scan(all.back(), 2);
  EXPECT_FALSE(served(all.back()));
  for (MPI_Comm& comm : all) MPI_Comm_free(&comm);
  const Duplicate after;
  expect_scan(after.get());
  EXPECT_TRUE(served(after.get()));
}

TEST(Threads, UseSeveralCommunicatorsAtOnce) {
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
  const int threads = 3;
  const int calls = size_of() <= 2 ? 40 : size_of() <= 5 ? 8 : 2;
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> wrong(threads, 0);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      const auto index = static_cast<std::size_t>(t);
      const MPI_Comm comm = comms[index];  // set up in here, by all threads at once
      const int rank = rank_in(comm);
      const int size = size_of(comm);
      for (int call = 0; call < calls; ++call) {
        const int value = 100 * t + call;
        int sum = -1;
        SIBYL_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (rank > 0 && sum != rank * value) ++wrong[index];
        std::vector<int> all(static_cast<std::size_t>(size), -1);
        SIBYL_Gather(&value, 1, MPI_INT, all.data(), 1, MPI_INT, call % size, comm);
        for (const int got : all) {
          if (rank == call % size && got != value) ++wrong[index];
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace sibyl::test
