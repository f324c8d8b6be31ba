/* Changes to another directory before its first MPI call. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int value = 1, sum = 0;
  if (argc != 2 || chdir(argv[1]) != 0) return 1;
  MPI_Init(&argc, &argv);
  for (int call = 0; call < 3; ++call) {
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
