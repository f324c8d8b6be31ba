/* A library that a program loads while it runs, and that calls MPI for it. */
#include <mpi.h>

void work(void);
void work(void) {
  int one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* of a plugin */
}
