// To be called by all ranks right before MPI_Finalize.
//
// MPICH over UCX hangs there on many hosts: a rank that still makes a connection waits for its
// peer, and the peer waits for the process manager and answers nobody. So every rank looks after
// its messages for a while after the last of them has come here.
#pragma once

#include <mpi.h>

#include <chrono>
#include <thread>

namespace sibyl {

inline void settle() {
  using namespace std::chrono;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto end = steady_clock::now() + milliseconds(200);
  while (steady_clock::now() < end) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(milliseconds(1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace sibyl
