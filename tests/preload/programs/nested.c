/* Collectives that are called from inside a collective. MPI forbids them to programs (here they
 * stand in a user-defined operator), but an MPI library may build one collective on another; such
 * calls are the library's own business and must go native. The driver checks that not one of these
 * MPI_Scan was served.
 */
#include <mpi.h>
#include <stdio.h>

static int scans;

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) {
    int sum = ((int*)in)[i] + ((int*)inout)[i];
    for (int k = 0; k < 4; ++k) {
      int one = 1, result = 0;
      MPI_Scan(&one, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
      scans += result;
    }
    ((int*)inout)[i] = sum;
  }
}

int main(int argc, char** argv) {
  int rank, value, result = -1;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(add, 1, &op);
  value = rank + 1;
  for (int i = 0; i < 6; ++i) {
    MPI_Exscan(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &scans, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("exscan %d, %s\n", result, scans > 0 ? "scans made" : "no scan was made");
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
