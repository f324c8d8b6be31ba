/* Collectives on buffers in the memory of a stub of a device (tests/device), which faults when the
 * host touches it. Every second rank has them in host memory.
 *
 *   device STUB WHEN      WHEN: before or after MPI_Init the stub is loaded
 *
 * Rank 0 prints "N right, M wrong". */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 5000, most_ranks = 16 };

static void* (*stub_allocate)(size_t);
static void (*stub_write)(void*, const void*, size_t);
static void (*stub_read)(void*, const void*, size_t);
static int rank, ranks, right, wrong;

static void load(const char* stub) {
  void* library = dlopen(stub, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *(void**)&stub_allocate = dlsym(library, "stub_allocate");
  *(void**)&stub_write = dlsym(library, "stub_write");
  *(void**)&stub_read = dlsym(library, "stub_read");
}

static int* make(int elements) {
  const size_t bytes = (size_t)elements * sizeof(int);
  return rank % 2 == 0 ? stub_allocate(bytes) : malloc(bytes);
}

static void put(int* to, int value, int elements) {
  int* values = malloc((size_t)elements * sizeof *values);
  for (int i = 0; i < elements; ++i) values[i] = value;
  stub_write(to, values, (size_t)elements * sizeof *values);
  free(values);
}

static void expect(const int* from, int value, int elements) {
  int* values = malloc((size_t)elements * sizeof *values);
  stub_read(values, from, (size_t)elements * sizeof *values);
  int same = 1;
  for (int i = 0; i < elements; ++i) same = same && values[i] == value;
  *(same ? &right : &wrong) += 1;
  free(values);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (strcmp(argv[2], "before") == 0) load(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(argv[2], "before") != 0) load(argv[1]);
  int* const own = make(count);
  int* const sum = make(count);
  int* const all = make(count * ranks);
  for (int turn = 0; turn < 4; ++turn) {
    put(own, rank + turn, count);
    put(sum, -1, count);
    MPI_Allreduce(own, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum, ranks * (ranks - 1) / 2 + ranks * turn, count);
    MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect(own, ranks - 1 + turn, count);
    put(own, rank + turn, count);
    MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) expect(all + r * count, r + turn, count);
    put(own, turn, count);
    MPI_Bcast(own, count, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    expect(own, turn, count);
  }
  int sums[2] = {right, wrong}, totals[2] = {0, 0};
  MPI_Reduce(sums, totals, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d right, %d wrong\n", totals[0], totals[1]);
  MPI_Finalize();
  return 0;
}
