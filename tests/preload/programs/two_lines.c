/* Two reduces of one size on two lines - allreduces, where an argument says so - with another rank
 * late before each: rank 1 before the first, rank 2 before the second. Prints OK.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { steps = 40, count = 1 << 18 };

static void come_late(int late) {
  const struct timespec pause = {.tv_nsec = 20000000};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == late) nanosleep(&pause, NULL);
}

int main(int argc, char** argv) {
  static int own[count], sum[count];
  int rank, size, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < count; ++i) own[i] = step + rank;
    int first;
    if (argc > 1) {
      come_late(1);
      MPI_Allreduce(own, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      first = sum[count - 1];
      come_late(2);
      MPI_Allreduce(own, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
      come_late(1);
      MPI_Reduce(own, sum, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
      first = sum[count - 1];
      come_late(2);
      MPI_Reduce(own, sum, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    const int expected = size * step + size * (size - 1) / 2;
    if (rank == 0 && (first != expected || sum[0] != expected)) right = 0;
  }
  if (rank == 0) puts(right ? "OK" : "wrong sums");
  MPI_Finalize();
  return 0;
}
