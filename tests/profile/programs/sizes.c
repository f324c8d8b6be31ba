/* Collectives of which MPI wants sizes alike on all ranks: each with one size, with the same again,
 * in place where there is such a form, and with another size. On two ranks. */
#include <mpi.h>

enum { ranks = 2, most = 8 };
static double in[ranks * most], out[ranks * most];
static int rank;

static void regular(int count, int in_place) {
  const void* const root_part = in_place && rank == 0 ? MPI_IN_PLACE : (const void*)in;
  void* const root_result = in_place && rank == 0 ? MPI_IN_PLACE : (void*)out;
  const void* const part = in_place ? MPI_IN_PLACE : (const void*)in;
  MPI_Gather(root_part, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Scatter(in, count, MPI_DOUBLE, root_result, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allgather(part, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoall(part, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void irregular(int first, int second, int in_place) {
  const int counts[ranks] = {first, second}, places[ranks] = {0, first};
  const void* const part = in_place ? MPI_IN_PLACE : (const void*)in;
  MPI_Allgatherv(part, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Reduce_scatter(part, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  regular(2, 0);
  regular(2, 0);
  regular(2, 1);
  regular(3, 0);
  irregular(2, 3, 0);
  irregular(2, 3, 0);
  irregular(2, 3, 1);
  irregular(3, 2, 0);
  MPI_Finalize();
  return 0;
}
