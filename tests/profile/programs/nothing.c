/* Begins and ends: what remains of a program's wall time is the launcher's, MPI's and the
 * recorder's. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
