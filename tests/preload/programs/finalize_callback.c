/* Collectives in the user's delete callbacks on MPI_COMM_SELF, which run in MPI_Finalize: set
 * before and after the first collective of some ranks. */
#include <mpi.h>
#include <stdio.h>

#include "everyone.h"

static int rank, size;

static int on_delete(MPI_Comm self, int key, void* value, void* extra) {
  (void)self, (void)key, (void)extra;
  for (int i = 0; i < 5; ++i) {
    int one = 1, sum = -1;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % size, MPI_COMM_WORLD);
    if (rank == i % size) printf("%s: %d\n", (const char*)value, sum);
    if (use_everyone(MPI_COMM_WORLD, 4, i) != 0) printf("%d: WRONG\n", rank);
  }
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int early, late;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &early, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &late, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, early, "early");
  /* Ranks use MPI_COMM_SELF at different moments, and some do not at all. */
  int one = 1, sum = 0;
  for (int i = 0; i < 4 * rank; ++i) {
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  }
  for (int i = 0; i < 4; ++i) MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_set_attr(MPI_COMM_SELF, late, "late");
  if (rank == 0) printf("before: %d\n", sum);
  MPI_Finalize();
  return 0;
}
