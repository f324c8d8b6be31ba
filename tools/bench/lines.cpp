// Standard output, a line at a time; see lines.hpp.
#include "bench/lines.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace sibyl::bench {

void print_at_rank_0(const Json& line) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

}  // namespace sibyl::bench
