/* Calls each of the collectives that go to all ranks six times; ends with 1 when a sum is wrong. */
#include <mpi.h>

enum { calls = 6, most = 64 };

int main(int argc, char** argv) {
  static int from[most], to[most], ones[most], places[most];
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < size; ++i) {
    ones[i] = 1;
    places[i] = i;
  }
  for (int i = 0; i < calls; ++i) {
    MPI_Comm world = MPI_COMM_WORLD;
    for (int r = 0; r < size; ++r) from[r] = rank;
    MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, world);
    wrong |= to[0] != size * (size - 1) / 2;
    MPI_Reduce_scatter(from, to, ones, MPI_INT, MPI_SUM, world);
    MPI_Reduce_scatter_block(from, to, 1, MPI_INT, MPI_SUM, world);
    wrong |= to[0] != size * (size - 1) / 2;
    MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, world);
    MPI_Allgatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, world);
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, world);
    MPI_Alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, world);
    wrong |= to[size - 1] != size - 1;
    MPI_Bcast(to, 1, MPI_INT, 0, world);
    MPI_Barrier(world);
  }
  MPI_Finalize();
  return wrong;
}
