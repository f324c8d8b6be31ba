/* Uses the large-count function where it is there, as mpi4py does: a weak reference. Under the
 * preload it is always there, also with an MPI that has none; then a count that fits must work and
 * one that does not must be an error, never a shorter call. Knows nothing else of Sibyl.
 */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION < 4
int MPI_Gather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                 MPI_Comm);
#endif
#pragma weak MPI_Gather_c

static int gather(const int* send, MPI_Count count, int* receive) {
  if (MPI_Gather_c != NULL) {
    return MPI_Gather_c(send, count, MPI_INT, receive, count, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (count > 1000) return MPI_ERR_COUNT;
  return MPI_Gather(send, (int)count, MPI_INT, receive, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, all[64], error = MPI_ERR_COUNT, class = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 5; ++i) {
    all[0] = all[1] = -1;
    const int own = rank + 10 * i;
    gather(&own, 1, all);
    printf("rank %d: %d %d\n", rank, all[0], all[1]);
  }
#if MPI_VERSION < 4
  error = gather(all, ((MPI_Count)1 << 32) + 1, all); /* as an int it would be 1 */
#endif
  MPI_Error_class(error, &class);
  printf("rank %d: %s\n", rank, class == MPI_ERR_COUNT ? "refused" : "not refused");
  MPI_Finalize();
  return 0;
}
