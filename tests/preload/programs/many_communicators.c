/* Duplicates the world, and uses each duplicate, until the MPI library has no room for another one
 * or there are as many as asked for; frees half and goes on. Prints how many there were.
 *
 *   many_communicators [MOST] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm comms[8192];

static int fill(int have, int most) {
  while (have < most) {
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comms[have]) != MPI_SUCCESS) break;
    ++have;
    int rank, one = 1, sum = 0;
    MPI_Comm_rank(comms[have - 1], &rank);
    for (int call = 0; call < 4; ++call) {
      MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comms[have - 1]);
      if (sum != rank + 1) printf("WRONG\n");
    }
  }
  return have;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int most = argc > 1 ? atoi(argv[1]) : 8192;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int have = fill(0, most);
  printf("%d communicators\n", have);
  for (int i = 0; i < have / 2; ++i) MPI_Comm_free(&comms[--have]);
  int again = fill(have, most);
  printf("%d communicators again\n", again);
  while (again > 0) MPI_Comm_free(&comms[--again]);
  MPI_Finalize();
  return 0;
}
