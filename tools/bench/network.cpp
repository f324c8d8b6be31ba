// Ping-pong for latency, rate and clock offset; see network.hpp.
#include "bench/network.hpp"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "bench/clock.hpp"

namespace sibyl::bench {
namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// The least time from the start of a send to a byte of answer, while all ranks of the first node
// send to those of the second, `per_node` ranks apart.
double one_way(int bytes, int per_node, int repetitions) {
  const int rank = rank_of_world();
  const bool answers = rank >= per_node;
  const int partner = answers ? rank - per_node : rank + per_node;
  const bool takes_part = rank < 2 * per_node && partner < size_of_world();
  std::vector<char> data(static_cast<std::size_t>(bytes));
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    if (!takes_part) continue;
    if (!answers) {
      MPI_Send(data.data(), bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), 1, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(data.data(), bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), 1, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    }
    least = std::min(least, now() - begin);
  }
  return least;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double each : values) most = std::max(most, std::abs(each));
  return most;
}

}  // namespace

double half_round_trip(std::size_t bytes, int partner, int repetitions) {
  const int rank = rank_of_world();
  if (size_of_world() < 2 || partner <= 0) return 0;
  const auto size = static_cast<int>(std::min<std::size_t>(bytes, INT_MAX));  // a lower limit
  std::vector<char> data(static_cast<std::size_t>(size));
  double least = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -2; i < repetitions; ++i) {
    const double begin = now();
    if (rank == 0) {
      MPI_Send(data.data(), size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double half = (now() - begin) / 2;
      // The least: it is used as a limit.
      if (i >= 0) least = i == 0 ? half : std::min(least, half);
    } else if (rank == partner) {
      MPI_Recv(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return least;
}

Network measure_network(int ranks_per_node) {
  Network network;
  network.ranks_per_node = ranks_per_node;
  const int partner = ranks_per_node;  // the first of the second node
  if (size_of_world() <= partner) return network;
  network.alpha = half_round_trip(1, partner, 50);
  constexpr int small = 128 * 1024;
  constexpr int large = 2 * small;
  one_way(small, ranks_per_node, 1);
  const double longer = one_way(large, ranks_per_node, 5) - one_way(small, ranks_per_node, 5);
  // As many pairs send at once as the second node, which may not be full, has ranks for.
  const int pairs = std::min(ranks_per_node, size_of_world() - ranks_per_node);
  network.beta = std::max(longer, 0.0) / (large - small) / pairs;
  MPI_Bcast(&network.beta, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return network;
}

double ClockCheck::worst_offset() const { return largest(offset); }
double ClockCheck::worst_error() const { return largest(error); }
double ClockCheck::drift_since(const ClockCheck& earlier) const {
  std::vector<double> drift;
  std::ranges::transform(offset, earlier.offset, std::back_inserter(drift), std::minus{});
  return largest(drift);
}

ClockCheck check_clocks(int trips) {
  const int rank = rank_of_world();
  const int ranks = size_of_world();
  ClockCheck check;
  check.offset.resize(static_cast<std::size_t>(ranks));
  check.error.resize(static_cast<std::size_t>(ranks));
  for (int other = 1; other < ranks; ++other) {
    for (int i = 0; i < trips; ++i) {
      if (rank == 0) {
        double theirs = 0;
        const double begin = now();
        MPI_Send(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double end = now();
        const auto place = static_cast<std::size_t>(other);
        if (i == 0 || (end - begin) / 2 < check.error[place]) {
          check.error[place] = (end - begin) / 2;
          check.offset[place] = theirs - (begin + end) / 2;
        }
      } else if (rank == other) {
        double mine = 0;
        MPI_Recv(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = now();
        MPI_Send(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      }
    }
  }
  unsigned long long identity = clock_identity();
  std::vector<unsigned long long> identities(static_cast<std::size_t>(ranks));
  MPI_Allgather(&identity, 1, MPI_UNSIGNED_LONG_LONG, identities.data(), 1, MPI_UNSIGNED_LONG_LONG,
                MPI_COMM_WORLD);
  std::map<unsigned long long, int> sharing;
  for (const unsigned long long each : identities) ++sharing[each];
  for (const auto& [clock, count] : sharing) {
    check.ranks_per_clock = std::max(check.ranks_per_clock, count);
  }
  check.common = sharing.size() == 1;
  MPI_Scatter(check.offset.data(), 1, MPI_DOUBLE, &check.own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (check.common) check.own = 0;
  return check;
}

}  // namespace sibyl::bench
