// What the tests that run under mpiexec have in common.
//
// Every rank runs the same tests in the same order. A check may fail on some ranks only; after each
// test the ranks agree on who failed, so that the next test starts with all of them in step.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

namespace sibyl::test {

inline int rank_in(MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// The thread level that MPI granted to this test program.
inline int thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

// A duplicate of a communicator that is freed at the end of the scope, with errors returned.
class Duplicate {
 public:
  explicit Duplicate(MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~Duplicate() { MPI_Comm_free(&comm_); }
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A communicator between the lower half of the ranks of the world and the upper one; at least two.
class BetweenHalves {
 public:
  BetweenHalves() {
    int size = 0;
    int rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool low = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half_);
    MPI_Intercomm_create(half_, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 0, &between_);
  }
  ~BetweenHalves() {
    MPI_Comm_free(&between_);
    MPI_Comm_free(&half_);
  }
  BetweenHalves(const BetweenHalves&) = delete;
  BetweenHalves& operator=(const BetweenHalves&) = delete;
  MPI_Comm get() const { return between_; }

 private:
  MPI_Comm half_ = MPI_COMM_NULL;
  MPI_Comm between_ = MPI_COMM_NULL;
};

}  // namespace sibyl::test
