/* Gathers and scatters in turn, the last rank always late: the program that prediction is for.

   late CALLS BYTES MICROSECONDS

   Exits with 1 when data are wrong. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 100;
  const int bytes = argc > 2 ? atoi(argv[2]) : 8192;
  const int late = argc > 3 ? atoi(argv[3]) : 1000;
  char* own = malloc((size_t)bytes);
  char* all = malloc((size_t)bytes * (size_t)size);
  int wrong = 0;
  for (int call = 0; call < calls; ++call) {
    if (rank == size - 1) usleep((useconds_t)late);
    memset(own, rank + call, (size_t)bytes);
    MPI_Gather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == 0; ++r) {
      wrong |= all[(size_t)r * (size_t)bytes] != (char)(r + call);
    }
    if (rank == size - 1) usleep((useconds_t)late);
    MPI_Scatter(all, bytes, MPI_CHAR, own, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    wrong |= own[bytes - 1] != (char)(rank + call);
  }
  free(all);
  free(own);
  MPI_Finalize();
  return wrong;
}
