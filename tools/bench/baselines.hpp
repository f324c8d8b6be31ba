// Exclusive scans written by hand over point-to-point, as one would without Sibyl: what the
// schedule machinery is measured against, and what other MPI libraries do where they cannot be run.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace sibyl::bench {

struct HandScan {
  const void* send = nullptr;
  void* receive = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  std::size_t bytes = 0;  // of the vector, which is contiguous
  bool commutes = true;
  char* first = nullptr;  // two vectors of scratch
  char* second = nullptr;
};

// 123-doubling (Traeff 2025, algorithm 1), the same messages as Sibyl's planner of that name.
int hand_123_doubling(const HandScan& scan);

// Recursive doubling as in MPICH and in Open MPI when forced: partners differ in one bit, every
// round applies the operator to the running total and to the result. p no power of two: partners
// that do not exist are left out.
int hand_recursive_doubling(const HandScan& scan);

// Open MPI's default: rank r waits for r-1, adds its own vector and hands the sum to r+1.
int hand_chain(const HandScan& scan);

}  // namespace sibyl::bench
