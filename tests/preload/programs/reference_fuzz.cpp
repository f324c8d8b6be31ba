// Random collectives by their MPI names beside a serial reference: a plain program that knows
// nothing of Sibyl, built from the files of the unit tests (tests/collectives/reference_*).
//
//   reference_fuzz SEED CASES [FIRST]
//
// Runs cases FIRST (0) to FIRST + CASES - 1 of a seed, on duplicates of MPI_COMM_WORLD and on parts
// of it with permuted ranks, prints what went wrong with the whole case, and at rank 0 how many
// were run. Exit status 1: something was wrong.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "collectives/reference_cases.hpp"

namespace {

using namespace sibyl::reference;

constexpr Library by_name{
    MPI_Gather,    MPI_Scatter,   MPI_Gatherv,        MPI_Scatterv,
    MPI_Bcast,     MPI_Allgather, MPI_Allgatherv,     MPI_Alltoall,
    MPI_Alltoallv, MPI_Barrier,   MPI_Reduce,         MPI_Scan,
    MPI_Exscan,    MPI_Allreduce, MPI_Reduce_scatter, MPI_Reduce_scatter_block};

// A communicator of some of the ranks in any order; the same on all of them.
MPI_Comm draw_communicator(Random& random) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int> colors(order.size());
  for (int& color : colors) color = one_in(random, 3) ? 1 : 0;
  const auto me = static_cast<std::size_t>(rank);
  const std::uint64_t kind = pick(random, 3);
  if (kind == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, kind == 1 ? 0 : colors[me], order[me], &comm);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) {
    std::fprintf(stderr, "usage: reference_fuzz SEED CASES [FIRST]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t cases = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const Limits limits = native_limits();
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  constexpr std::uint64_t cases_of_a_communicator = 25;
  int failures = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  for (std::uint64_t i = first; i < first + cases; ++i) {
    if (comm == MPI_COMM_NULL || i % cases_of_a_communicator == 0) {
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
      Random random(seed + 7919 * (i / cases_of_a_communicator));
      comm = draw_communicator(random);
    }
    Random random(seed + 1000003 * i);
    const auto call = static_cast<Call>(i % call_count);
    const std::string wrong = run_drawn(call, random(), limits, by_name, comm);
    if (!wrong.empty() && ++failures <= 5) {
      int rank = 0;
      MPI_Comm_rank(comm, &rank);
      std::printf("case %llu of seed %llu, rank %d (%d of the world): %s",
                  static_cast<unsigned long long>(i), static_cast<unsigned long long>(seed), rank,
                  world_rank, wrong.c_str());
      std::fflush(stdout);
    }
  }
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) {
    std::printf("%llu cases, %d failures\n", static_cast<unsigned long long>(cases), failures);
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
