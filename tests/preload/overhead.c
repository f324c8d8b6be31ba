/* What the preload costs a call that it hands back to the MPI library: MPI_X, which goes through
 * shim, re-entry guard and Sibyl's decision, beside PMPI_X, which is called directly; on one rank,
 * so that no message hides the difference. Batches of the two alternate; printed are the medians.
 * Run it with SIBYL_EXSCAN=native for exscan; the others go to the library by default. Arguments
 * name the functions to be measured; without any all are.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batches = 401, calls = 2000 };

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef int reduction(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int broadcast(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int barrier(MPI_Comm);
static long value = 1, result;

/* The functions are read from volatile variables so that both are called in the same way. */
#define BATCH(type, name, arguments)                             \
  static double batch_of_##name(int direct) {                    \
    type* volatile function = direct ? PMPI_##name : MPI_##name; \
    const double start = MPI_Wtime();                            \
    for (int i = 0; i < calls; ++i) function arguments;          \
    return (MPI_Wtime() - start) / calls * 1e9;                  \
  }
BATCH(reduction, Exscan, (&value, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD))
BATCH(reduction, Allreduce, (&value, &result, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD))
BATCH(broadcast, Bcast, (&value, 1, MPI_LONG, 0, MPI_COMM_WORLD))
BATCH(barrier, Barrier, (MPI_COMM_WORLD))

static int wanted(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return 1;
  }
  return argc < 2;
}

static void measure(const char* name, double (*batch)(int)) {
  static double direct[batches], intercepted[batches], difference[batches];
  batch(1);
  batch(0);
  for (int i = 0; i < batches; ++i) {
    direct[i] = batch(1);
    intercepted[i] = batch(0);
    difference[i] = intercepted[i] - direct[i];
  }
  qsort(direct, batches, sizeof *direct, ascending);
  qsort(intercepted, batches, sizeof *intercepted, ascending);
  qsort(difference, batches, sizeof *difference, ascending);
  printf("%s direct %.1f ns, intercepted %.1f ns, difference %.1f ns (quartiles %.1f to %.1f)\n",
         name, direct[batches / 2], intercepted[batches / 2], difference[batches / 2],
         difference[batches / 4], difference[3 * batches / 4]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (wanted("exscan", argc, argv)) measure("exscan", batch_of_Exscan);
  if (wanted("allreduce", argc, argv)) measure("allreduce", batch_of_Allreduce);
  if (wanted("bcast", argc, argv)) measure("bcast", batch_of_Bcast);
  if (wanted("barrier", argc, argv)) measure("barrier", batch_of_Barrier);
  MPI_Finalize();
  return 0;
}
