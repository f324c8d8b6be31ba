/* A program for check_privileged.py, which installs it with more rights than whoever starts it has:
 * it makes calls that Sibyl serves, counts and times where its settings say so, and says whether it
 * has such rights. */
#include <mpi.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int one = 1, sum = 0;
  for (int call = 0; call < 5; ++call) {
    MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  printf("privileged: %d\n", getauxval(AT_SECURE) != 0);
  return 0;
}
