/* Known ranks are late at known lines: what `sibyl profile` has to find.

   late_sites CALLS MICROSECONDS [kill]

   The comments "at NAME" mark the lines that tests look for. Where ARRIVALS names a folder, each
   rank writes into its file RANK there when it came to them, in nanoseconds of the machine's
   monotonic clock. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank;
static int delay;
static FILE* arrivals;

static void arrive(const char* site) {
  struct timespec now;
  if (arrivals == NULL) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(arrivals, "%s %lld\n", site, now.tv_sec * 1000000000LL + now.tv_nsec);
}

static void note_arrivals(void) {
  char path[4096];
  const char* const folder = getenv("ARRIVALS");
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  arrivals = fopen(path, "w");
}

static void wait_if(int late) {
  MPI_Barrier(MPI_COMM_WORLD); /* at barrier */
  if (rank == late) usleep((useconds_t)delay);
}

__attribute__((noinline)) static void step(double* all, double* own) {
  wait_if(2);
  arrive("reduce");
  MPI_Reduce(own, all, 1000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); /* at reduce */
}

__attribute__((noinline)) static void exchange(double* all, double* own) {
  wait_if(1);
  arrive("alltoall");
  MPI_Alltoall(own, 16, MPI_DOUBLE, all, 16, MPI_DOUBLE, MPI_COMM_WORLD); /* at alltoall */
}

__attribute__((noinline)) static void pairs(double* all, double* own, MPI_Comm half) {
  wait_if(3);
  arrive("allgather");
  MPI_Allgather(own, 8, MPI_DOUBLE, all, 8, MPI_DOUBLE, half); /* at allgather */
}

__attribute__((noinline)) static void ring(double* all, double* own, int size) {
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  MPI_Sendrecv(own, 1, MPI_DOUBLE, next, 0, all, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE); /* at sendrecv */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  note_arrivals();
  const int calls = atoi(argv[1]);
  delay = atoi(argv[2]);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  double* own = calloc(4000, sizeof(double));
  double* all = calloc(4000, sizeof(double));
  for (int call = 0; call < calls; ++call) {
    step(all, own);
    exchange(all, own);
    pairs(all, own, half);
    ring(all, own, size);
    if (argc > 3 && call == calls / 2 && rank == 1) raise(SIGKILL);
  }
  MPI_Comm_free(&half);
  free(own);
  free(all);
  if (arrivals != NULL) fclose(arrivals);
  MPI_Finalize();
  return 0;
}
