/* A rank that does not come, and calls that do not match: what `sibyl run --hang-after` is to name.
 *
 *   hangs SECONDS [mismatch]
 *
 * Rank 1 sleeps while the others wait in an allreduce. With "mismatch" it then broadcasts from
 * itself, which the others do from rank 0: messages so short that all of them are gone before
 * anybody could wait.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void step(int rank, int seconds) {
  double own = rank, sum = 0;
  if (rank == 1) sleep((unsigned)seconds);
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* at step */
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD); /* at barrier */
  step(rank, atoi(argv[1]));
  if (argc > 2) {
    int value = 0;
    if (rank == 1) {
      MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD); /* at other */
    } else {
      MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); /* at bcast */
    }
    sleep(2); /* the command looks twice a second */
  }
  MPI_Finalize();
  return 0;
}
