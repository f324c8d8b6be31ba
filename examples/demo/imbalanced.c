/* An ordinary MPI program that knows nothing of Sibyl: data-parallel training, where one rank has
 * more to do than the others.
 *
 *   imbalanced STEPS COMPUTE_MS LATE_MS
 *
 * In every step a rank computes its gradients, of 1 MiB, and all of them are summed at all ranks.
 * Rank 3 takes LATE_MS longer. The computation is a sleep, so that ranks which share a core take
 * the time that they would take on cores of their own. Prints a line with the seconds of all steps
 * and a checksum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { elements = 1 << 17, slow_rank = 3 };
static double gradients[elements], sums[elements], weights[elements];

static void compute(int rank, int step, int milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
  for (int i = 0; i < elements; ++i) gradients[i] = (rank + 1) * ((i + step) % 17);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) {
    if (rank == 0) fprintf(stderr, "imbalanced STEPS COMPUTE_MS LATE_MS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int steps = atoi(argv[1]);
  const int milliseconds = atoi(argv[2]) + (rank == slow_rank ? atoi(argv[3]) : 0);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    compute(rank, step, milliseconds);
    MPI_Allreduce(gradients, sums, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < elements; ++i) weights[i] += sums[i];
  }
  const double seconds = MPI_Wtime() - begin;
  double checksum = 0;
  for (int i = 0; i < elements; ++i) checksum += weights[i] * (i % 7 + 1);
  if (rank == 0) printf("seconds %.3f checksum %.17g\n", seconds, checksum);
  MPI_Finalize();
  return 0;
}
