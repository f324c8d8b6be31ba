/* Broadcasts of types that are freed after each call, so that the next one, of another size, may
 * have the same handle: 1 int, then three times 1000, on a communicator of its own.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { calls = 4, most = 1000 };
  static int values[most];
  int rank;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < calls; ++i) {
    MPI_Datatype type;
    MPI_Type_contiguous(i == 0 ? 1 : most, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) values[most - 1] = i;
    MPI_Bcast(values, 1, type, 0, comm);
    MPI_Type_free(&type);
    printf("rank %d: %d\n", rank, values[most - 1]);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
