/* All ranks end without MPI_Finalize, after collectives, with status 3.
 *
 *   unfinished exit|_exit|return */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "everyone.h"

int main(int argc, char** argv) {
  int rank, size, wrong = 0;
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 4; ++i) {
    int one = i, sum = -1;
    wrong += use_everyone(MPI_COMM_WORLD, 100, i);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != i * (rank + 1);
  }
  printf("%d of %d: %s\n", rank, size, wrong == 0 ? "right" : "WRONG");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD); /* all have said so */
  if (strcmp(argv[1], "exit") == 0) exit(3);
  if (strcmp(argv[1], "_exit") == 0) _exit(3);
  return 3;
}
