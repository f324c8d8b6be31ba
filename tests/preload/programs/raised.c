/* Rank 0 broadcasts more than the others have room for: how often is the error handler called, with
 * which class, and what does the call return? */
#include <mpi.h>
#include <stdio.h>

static int calls, seen;

static void count(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  ++calls;
  MPI_Error_class(*error, &seen);
}

int main(int argc, char** argv) {
  int rank, returned, room[4096] = {0};
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  returned = MPI_Bcast(room, rank == 0 ? 512 : 256, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Error_class(returned, &returned);
  printf("%d: %d calls, %s, %s\n", rank, calls, seen == MPI_ERR_TRUNCATE ? "truncated" : "nothing",
         returned == MPI_ERR_TRUNCATE ? "truncated"
         : returned == MPI_SUCCESS    ? "well"
                                      : "other");
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
