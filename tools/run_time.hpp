// Times of programs of plain MPI whose ranks share one machine's monotonic clock, as the hosts of a
// cluster of namespaces do.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sibyl {

// Seconds of the monotonic clock.
inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// From the first rank's start to the last rank's end, known to all. Collective over the world.
inline double run_time(double start, double end) {
  const double mine[2] = {-start, end};
  double all[2];
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[1] + all[0];
}

}  // namespace sibyl
