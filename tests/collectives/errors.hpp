// What the tests of wrong arguments share: a handler that remembers what it was called for, and a
// fixture that makes wrong calls and sees that nothing else comes of them.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "collectives/harness.hpp"

namespace sibyl::test {

inline int handler_calls = 0;
inline int handler_class = MPI_SUCCESS;
inline MPI_Comm handler_comm = MPI_COMM_NULL;

inline void remember(MPI_Comm* comm, int* code, ...) {
  ++handler_calls;
  handler_comm = *comm;
  MPI_Error_class(*code, &handler_class);
}

inline void leave_to_library(Served& served, Collective collective) {
  Settings settings = served.state().settings();
  settings.algorithm[static_cast<std::size_t>(collective)] = serve_natively;
  served.state().replace_settings(settings);
}

class Errors : public testing::Test {
 protected:
  static constexpr int count = 6;
  std::array<int, 64 * 16> send_{};
  std::array<int, 64 * 16> receive_{};
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;

  void SetUp() override {
    send_.fill(1);
    receive_.fill(-7);
    MPI_Comm_create_errhandler(&remember, &handler_);
  }
  void TearDown() override { MPI_Errhandler_free(&handler_); }

  bool untouched() const {
    for (const int value : receive_) {
      if (value != -7) return false;
    }
    return true;
  }

  // The communicator still serves.
  void expect_alive(MPI_Comm comm) {
    const int rank = rank_in(comm);
    const int size = size_of(comm);
    std::vector<int> all(static_cast<std::size_t>(size), -1);
    ASSERT_EQ(SIBYL_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, size - 1, comm), MPI_SUCCESS);
    if (rank == size - 1) {
      for (int r = 0; r < size; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], r);
    }
    int own = -1;
    ASSERT_EQ(SIBYL_Scatter(all.data(), 1, MPI_INT, &own, 1, MPI_INT, size - 1, comm), MPI_SUCCESS);
    ASSERT_EQ(own, rank);
    ASSERT_EQ(SIBYL_Scan(&rank, &own, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    ASSERT_EQ(own, rank * (rank + 1) / 2);
    ASSERT_EQ(SIBYL_Allreduce(&rank, &own, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    ASSERT_EQ(own, size * (size - 1) / 2);
    own = rank == size - 1 ? 17 : -1;
    ASSERT_EQ(SIBYL_Bcast(&own, 1, MPI_INT, size - 1, comm), MPI_SUCCESS);
    ASSERT_EQ(own, 17);
    std::vector<int> from(all.size(), rank);
    ASSERT_EQ(SIBYL_Alltoall(from.data(), 1, MPI_INT, all.data(), 1, MPI_INT, comm), MPI_SUCCESS);
    for (int r = 0; r < size; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], r);
    ASSERT_EQ(SIBYL_Barrier(comm), MPI_SUCCESS);
  }

  // Runs a call that is wrong on all ranks, with errors returned and with a handler.
  void expect_error(int wanted, const char* what, const std::function<int(MPI_Comm)>& call) {
    SCOPED_TRACE(what);
    const Duplicate comm;
    expect_alive(comm.get());  // set up: what is tested is Sibyl, not the MPI library
    EXPECT_EQ(class_of(call(comm.get())), wanted);
    MPI_Comm_set_errhandler(comm.get(), handler_);
    handler_calls = 0;
    call(comm.get());  // MPICH 5 returns no error that a handler has taken
    EXPECT_EQ(handler_calls, 1);
    EXPECT_EQ(handler_class, wanted);
    EXPECT_EQ(handler_comm, comm.get()) << "raised on another communicator";
    EXPECT_TRUE(untouched());
    expect_alive(comm.get());
  }
};

}  // namespace sibyl::test
