/* What the preload costs a call that it hands back to the MPI library: MPI_Exscan, which goes
 * through shim, re-entry guard and Sibyl's decision, beside PMPI_Exscan, which is called directly;
 * on one rank, so that no message hides the difference. Batches of the two alternate; printed are
 * the medians. Run it with SIBYL_EXSCAN=native.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { batches = 401, calls = 2000 };

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef int exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

/* The function is read from a volatile variable so that both are called in the same way. */
static double batch(exscan* volatile function) {
  long value = 1, result = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    function(&value, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / calls * 1e9;
}

int main(int argc, char** argv) {
  static double direct[batches], intercepted[batches], difference[batches];
  MPI_Init(&argc, &argv);
  batch(PMPI_Exscan);
  batch(MPI_Exscan);
  for (int i = 0; i < batches; ++i) {
    direct[i] = batch(PMPI_Exscan);
    intercepted[i] = batch(MPI_Exscan);
    difference[i] = intercepted[i] - direct[i];
  }
  qsort(direct, batches, sizeof *direct, ascending);
  qsort(intercepted, batches, sizeof *intercepted, ascending);
  qsort(difference, batches, sizeof *difference, ascending);
  printf("direct %.1f ns, intercepted %.1f ns, difference %.1f ns (quartiles %.1f to %.1f)\n",
         direct[batches / 2], intercepted[batches / 2], difference[batches / 2],
         difference[batches / 4], difference[3 * batches / 4]);
  MPI_Finalize();
  return 0;
}
