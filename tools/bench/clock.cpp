// Clock and start on real machines; see clock.hpp.
#include "bench/clock.hpp"

#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>

namespace sibyl::bench {

// MPI_Wtime of some libraries ticks in microseconds only.
double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void start_together() {
  PMPI_Barrier(MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
}

void sleep_until(double when, double spin) {
  const double wake = when - spin;
  if (wake > now()) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // the kernel would add 50 us to each sleep
    timespec time{};
    const double seconds = std::floor(wake);
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((wake - seconds) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
  }
  while (now() < when) {
  }
}

unsigned long long clock_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return std::hash<std::string>{}(id);
}

}  // namespace sibyl::bench
