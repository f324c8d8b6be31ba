/* Uses large-count functions where they are there, as mpi4py does: weak references. Under the
 * preload they are always there, also with an MPI that has none; then a count that fits must work,
 * one that does not must be an error, never a shorter call, and one that is not significant may
 * hold anything. Knows nothing else of Sibyl.
 */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION < 4
int MPI_Gather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                 MPI_Comm);
int MPI_Scatter_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                  MPI_Comm);
int MPI_Allgather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm);
#endif
#pragma weak MPI_Gather_c
#pragma weak MPI_Scatter_c
#pragma weak MPI_Allgather_c

static const MPI_Count anything = ((MPI_Count)1 << 40) + 1;
static int rank;

static int gather(const void* send, MPI_Count count, int* receive) {
  if (MPI_Gather_c != NULL) {
    return MPI_Gather_c(send, send == MPI_IN_PLACE ? anything : count, MPI_INT, receive,
                        rank == 0 ? count : anything, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (count > 1000 || count < -1000) return MPI_ERR_COUNT;
  return MPI_Gather(send, (int)count, MPI_INT, receive, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
}

static int scatter(const int* send, MPI_Count count, void* receive) {
  if (MPI_Scatter_c != NULL) {
    return MPI_Scatter_c(send, rank == 0 ? count : anything, MPI_INT, receive,
                         receive == MPI_IN_PLACE ? anything : count, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return MPI_Scatter(send, (int)count, MPI_INT, receive, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
}

static int allgather_in_place(MPI_Count count, int* receive) {
  if (MPI_Allgather_c != NULL) {
    return MPI_Allgather_c(MPI_IN_PLACE, anything, MPI_INT, receive, count, MPI_INT,
                           MPI_COMM_WORLD);
  }
  return MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, receive, (int)count, MPI_INT, MPI_COMM_WORLD);
}

static void refused(const char* what, int error) {
  int class = 0;
  MPI_Error_class(error, &class);
  printf("rank %d: %s %s\n", rank, what, class == MPI_ERR_COUNT ? "refused" : "not refused");
}

int main(int argc, char** argv) {
  int all[64], error = MPI_ERR_COUNT, negative = MPI_ERR_COUNT;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 5; ++i) {
    all[0] = all[1] = -1;
    int own = rank + 10 * i;
    gather(&own, 1, all);
    printf("rank %d: %d %d\n", rank, all[0], all[1]);
    all[rank] = 100 + own;
    gather(rank == 0 ? MPI_IN_PLACE : &all[rank], 1, all);
    scatter(all, 1, rank == 0 ? MPI_IN_PLACE : (void*)&own);
    printf("rank %d: %d %d %d\n", rank, all[0], all[1], own);
    all[rank] = 200 + own;
    allgather_in_place(1, all);
    printf("rank %d: %d %d\n", rank, all[0], all[1]);
  }
#if MPI_VERSION < 4
  error = gather(all, ((MPI_Count)1 << 32) + 1, all); /* as an int it would be 1 */
  negative = gather(all, -((MPI_Count)1 << 32), all); /* 0 */
#endif
  refused("too large", error);
  refused("negative", negative);
  MPI_Finalize();
  return 0;
}
