/* What the preload costs a call in a program that works on its own data between two calls.
 *
 * A loop of calls (overhead.c) has all in the processor's caches. Here every rank walks over so
 * many MiB before each call, which drives everything else out of caches of that size; then ranks
 * meet in a barrier, wait 20 us, and make one call: MPI_X, through the preload, or PMPI_X, in
 * turns. A call takes as long as the slowest rank is in it; printed are the medians.
 *
 *   cold_calls BYTES MIB
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 1000, unseen = 100, most_bytes = 1 << 20 };

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef void collective(void);
static long *own, *all;
static int count, *counts, *places;

#define PAIR(name, arguments)                                    \
  static void intercepted_##name(void) { MPI_##name arguments; } \
  static void direct_##name(void) { PMPI_##name arguments; }
PAIR(Allreduce, (own, all, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD))
PAIR(Reduce, (own, all, count, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD))
PAIR(Bcast, (own, count, MPI_LONG, 0, MPI_COMM_WORLD))
PAIR(Allgather, (own, count, MPI_LONG, all, count, MPI_LONG, MPI_COMM_WORLD))
PAIR(Barrier, (MPI_COMM_WORLD))
/* These, of these sizes, Sibyl serves; the others go to the MPI library on one host. */
PAIR(Gather, (own, count, MPI_LONG, all, count, MPI_LONG, 0, MPI_COMM_WORLD))
PAIR(Scatter, (all, count, MPI_LONG, own, count, MPI_LONG, 0, MPI_COMM_WORLD))
PAIR(Gatherv, (own, count, MPI_LONG, all, counts, places, MPI_LONG, 0, MPI_COMM_WORLD))
PAIR(Scatterv, (all, counts, places, MPI_LONG, own, count, MPI_LONG, 0, MPI_COMM_WORLD))
PAIR(Exscan, (own, all, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD))
PAIR(Scan, (own, all, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD))

static void walk(char* over, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) ++over[at];
}

static double one_call(collective* call) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double met = MPI_Wtime();
  while (MPI_Wtime() - met < 20e-6) continue;
  const double begin = MPI_Wtime();
  call();
  double took = MPI_Wtime() - begin, slowest = 0;
  PMPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest * 1e9;
}

static void measure(const char* name, collective* const ways[2], char* data, size_t bytes) {
  static double took[2][calls]; /* direct, intercepted */
  int rank;
  for (int i = -unseen; i < calls; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const int way = (i & 1) ^ turn;
      walk(data, bytes);
      const double nanoseconds = one_call(ways[way]);
      if (i >= 0) took[way][i] = nanoseconds;
    }
  }
  for (int way = 0; way < 2; ++way) qsort(took[way], calls, sizeof(double), ascending);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  printf("%s direct %.0f ns, intercepted %.0f ns, difference %.0f ns\n", name, took[0][calls / 2],
         took[1][calls / 2], took[1][calls / 2] - took[0][calls / 2]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc == 3 ? atoi(argv[1]) : 0, mib = argc == 3 ? atoi(argv[2]) : -1;
  int ranks;
  if (bytes < 8 || bytes > most_bytes || mib < 0) {
    fprintf(stderr, "cold_calls BYTES MIB: 8 bytes to a MiB, and what is walked over\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  count = bytes / 8;
  own = calloc((size_t)count, 8);
  all = calloc((size_t)count * (size_t)ranks, 8);
  counts = calloc((size_t)ranks, sizeof *counts);
  places = calloc((size_t)ranks, sizeof *places);
  const size_t walked = (size_t)mib << 20;
  char* data = malloc(walked + 1);
  if (own == NULL || all == NULL || counts == NULL || places == NULL || data == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int rank = 0; rank < ranks; ++rank) {
    counts[rank] = count;
    places[rank] = rank * count;
  }
  memset(data, 1, walked + 1);
#define MEASURE(name) \
  measure(#name, (collective* const[2]){direct_##name, intercepted_##name}, data, walked)
  MEASURE(Allreduce);
  MEASURE(Reduce);
  MEASURE(Bcast);
  MEASURE(Allgather);
  MEASURE(Barrier);
  MEASURE(Gather);
  MEASURE(Scatter);
  MEASURE(Gatherv);
  MEASURE(Scatterv);
  MEASURE(Exscan);
  MEASURE(Scan);
  free(own);
  free(all);
  free(counts);
  free(places);
  free(data);
  MPI_Finalize();
  return 0;
}
