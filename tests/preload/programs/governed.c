/* Collectives that the governor can watch, on the world, with results that each rank looks at:
 *
 *   governed ROUNDS INTS flat|late|stopped [COLLECTIVE ...]
 *
 * A vector, or a block, has so many ints; no name means all of them. `late`: in the second half
 * of the rounds the last rank comes 3 ms late. `stopped`: in every sixteenth round one rank is
 * stopped for 20 ms, rank 0 and the last one in turns, while the others go on. Rank 0 prints OK.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, size, count, current, wrong;
static int *own, *all;
static int *counts, *places;
static char** names;
static volatile sig_atomic_t stopped; /* a process; 0: none */

static int value(int of, int i) { return current * 31 + of * 7 + i; }

static int sum(int ranks, int i) {
  return ranks * (current * 31 + i) + 7 * ranks * (ranks - 1) / 2;
}

static void expect_values(const int* found, int of) {
  for (int i = 0; i < count; ++i) wrong |= found[i] != value(of, i);
}

static void expect_sums(int ranks, int first) {
  for (int i = 0; i < count; ++i) wrong |= all[i] != sum(ranks, first + i);
}

static void expect_blocks(void) {
  for (int r = 0; r < size; ++r) expect_values(all + (long)r * count, r);
}

/* Whether it is to be called; then what it sends is made. */
static int calls(const char* name) {
  int named = *names == NULL;
  for (char** one = names; *one != NULL; ++one) named |= strcmp(*one, name) == 0;
  if (!named) return 0;
  for (long i = 0; i < (long)size * count; ++i) {
    own[i] = value(rank, (int)i);
    all[i] = -1;
  }
  return 1;
}

/* What each rank gets from a root, or from each rank, is that rank's block 0. */
static void repeat_block(int of) {
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < count; ++i) own[(long)r * count + i] = value(of, i);
  }
}

static void call_each(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_INT;
  const int n = count;
  if (calls("reduce")) { /* the first, since it asks what messages cost */
    MPI_Reduce(own, all, n, type, MPI_SUM, 0, world);
    if (rank == 0) expect_sums(size, 0);
  }
  if (calls("exscan")) {
    MPI_Exscan(own, all, n, type, MPI_SUM, world);
    if (rank > 0) expect_sums(rank, 0);
  }
  if (calls("scan")) {
    MPI_Scan(own, all, n, type, MPI_SUM, world);
    expect_sums(rank + 1, 0);
  }
  if (calls("allreduce")) {
    MPI_Allreduce(own, all, n, type, MPI_SUM, world);
    expect_sums(size, 0);
  }
  if (calls("reduce_scatter")) {
    MPI_Reduce_scatter(own, all, counts, type, MPI_SUM, world);
    expect_sums(size, rank * n);
  }
  if (calls("reduce_scatter_block")) {
    MPI_Reduce_scatter_block(own, all, n, type, MPI_SUM, world);
    expect_sums(size, rank * n);
  }
  if (calls("bcast")) {
    MPI_Bcast(own, n, type, 0, world);
    expect_values(own, 0);
  }
  if (calls("gather")) {
    MPI_Gather(own, n, type, all, n, type, 0, world);
    if (rank == 0) expect_blocks();
  }
  if (calls("gatherv")) {
    MPI_Gatherv(own, n, type, all, counts, places, type, 0, world);
    if (rank == 0) expect_blocks();
  }
  if (calls("allgather")) {
    MPI_Allgather(own, n, type, all, n, type, world);
    expect_blocks();
  }
  if (calls("allgatherv")) {
    MPI_Allgatherv(own, n, type, all, counts, places, type, world);
    expect_blocks();
  }
  if (calls("scatter")) {
    repeat_block(rank);
    MPI_Scatter(own, n, type, all, n, type, 0, world);
    expect_values(all, 0);
  }
  if (calls("scatterv")) {
    repeat_block(rank);
    MPI_Scatterv(own, counts, places, type, all, n, type, 0, world);
    expect_values(all, 0);
  }
  if (calls("alltoall")) {
    repeat_block(rank);
    MPI_Alltoall(own, n, type, all, n, type, world);
    expect_blocks();
  }
  if (calls("alltoallv")) {
    repeat_block(rank);
    MPI_Alltoallv(own, counts, places, type, all, counts, places, type, world);
    expect_blocks();
  }
}

static void go_on(int number) {
  (void)number;
  if (stopped != 0) kill(stopped, SIGCONT);
}

/* By rank 1, which a timer interrupts in the calls that wait for it. */
static void stop(int process) {
  const struct itimerval once = {.it_value = {.tv_usec = 20000}};
  go_on(0);
  stopped = process;
  kill(process, SIGSTOP);
  setitimer(ITIMER_REAL, &once, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4 || size < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int rounds = atoi(argv[1]);
  const int comes_late = strcmp(argv[3], "late") == 0 && rank == size - 1;
  const int stops = strcmp(argv[3], "stopped") == 0 && rank == 1;
  count = atoi(argv[2]);
  names = argv + 4;
  own = malloc(sizeof(int) * (size_t)size * (size_t)count);
  all = malloc(sizeof(int) * (size_t)size * (size_t)count);
  counts = malloc(sizeof(int) * (size_t)size);
  places = malloc(sizeof(int) * (size_t)size);
  int* processes = malloc(sizeof(int) * (size_t)size);
  if (!own || !all || !counts || !places || !processes) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int r = 0; r < size; ++r) {
    counts[r] = count;
    places[r] = r * count;
  }
  const struct sigaction action = {.sa_handler = go_on, .sa_flags = SA_RESTART};
  const struct timespec pause = {.tv_nsec = 3000000};
  const int process = (int)getpid();
  sigaction(SIGALRM, &action, NULL);
  MPI_Allgather(&process, 1, MPI_INT, processes, 1, MPI_INT, MPI_COMM_WORLD);
  for (current = 0; current < rounds; ++current) {
    if (comes_late && current >= rounds / 2) nanosleep(&pause, NULL);
    if (stops && current % 16 == 15) stop(processes[current % 32 == 15 ? 0 : size - 1]);
    call_each();
  }
  go_on(0);
  const int mine = wrong;
  MPI_Reduce(&mine, &wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(wrong ? "wrong results" : "OK");
  MPI_Finalize();
  return 0;
}
