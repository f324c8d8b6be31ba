/* A collective before MPI_Init, or after MPI_Finalize where an argument is given: the MPI library
 * ends the program, and names the function. */
#include <mpi.h>

int main(int argc, char** argv) {
  if (argc > 1) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return 0;
}
