/* What a recorded call costs: allreduces of one number and barriers of one rank, whose native time
 * is a few nanoseconds. The middle of some tens of batches, in nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { batches = 31, calls = 10000 };

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  double reduces[batches], barriers[batches], number = 1, sum;
  MPI_Init(&argc, &argv);
  for (int batch = 0; batch < batches; ++batch) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) {
      MPI_Allreduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    }
    const double middle = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
    reduces[batch] = (middle - begin) / calls * 1e9;
    barriers[batch] = (MPI_Wtime() - middle) / calls * 1e9;
  }
  qsort(reduces, batches, sizeof *reduces, compare);
  qsort(barriers, batches, sizeof *barriers, compare);
  printf("allreduce %.1f barrier %.1f\n", reduces[batches / 2], barriers[batches / 2]);
  return MPI_Finalize();
}
