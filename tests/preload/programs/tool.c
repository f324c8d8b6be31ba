/* A profiling tool as there are many: it defines MPI_X, counts the call and calls PMPI_X. It is
 * preloaded beside Sibyl, before it and behind it.
 */
#include <mpi.h>
#include <stdio.h>

static int reduces, gathers, inits;

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  ++reduces;
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive,
               int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  ++gathers;
  return PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
}

int MPI_Init(int* argc, char*** argv) {
  ++inits;
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* In one piece, since the ranks write to one file. */
  char line[128];
  snprintf(line, sizeof line, "tool at %d: init %d, reduce %d, gather %d\n", rank, inits, reduces,
           gathers);
  fputs(line, stdout);
  fflush(stdout);
  return PMPI_Finalize();
}
