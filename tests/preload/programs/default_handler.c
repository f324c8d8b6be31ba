/* Under MPICH a communicator that was never given an error handler goes by what the program sets on
 * the world, later on too. Prints the classes of errors on such ones, and of one on none. Knows
 * nothing of Sibyl.
 */
#include <mpi.h>
#include <stdio.h>

static int class_of(int error) {
  int class = -1;
  MPI_Error_class(error, &class);
  return class;
}

int main(int argc, char** argv) {
  int rank, value = 1, sum = 0, kept = 0;
  MPI_Comm early, late;
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &early);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &late);
  for (int call = 0; call < 5; ++call) {
    MPI_Scan(&value, &kept, 1, MPI_INT, MPI_SUM, early);
    MPI_Scan(&value, &kept, 1, MPI_INT, MPI_SUM, late);
    MPI_Exscan(&value, &kept, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  }
  const MPI_Comm comms[] = {MPI_COMM_WORLD, early, late, MPI_COMM_SELF};
  for (int i = 0; i < 4; ++i) {
    printf("rank %d: %d %d\n", rank, i, class_of(MPI_Bcast(&value, -1, MPI_INT, 0, comms[i])));
  }
  printf("rank %d: type %d\n", rank, class_of(MPI_Type_commit(&none)));
  MPI_Comm_free(&early);
  MPI_Comm_free(&late);
  MPI_Finalize();
  return 0;
}
