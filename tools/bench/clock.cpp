// Clock and start on real machines; see clock.hpp.
#include "bench/clock.hpp"

#include <mpi.h>

#include <chrono>

namespace sibyl::bench {

// MPI_Wtime of some libraries ticks in microseconds only.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void start_together() {
  PMPI_Barrier(MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace sibyl::bench
