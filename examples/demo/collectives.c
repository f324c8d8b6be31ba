/* An ordinary MPI program: it knows nothing of Sibyl.
 *
 * It calls MPI_Exscan, MPI_Scan, MPI_Gather and MPI_Scatter and prints, per collective and number
 * of elements, the median time of a call on its slowest rank and a checksum over the results of all
 * ranks:
 *
 *   exscan 1000 12.34 us checksum 0123456789abcdef
 *
 * `make demo` runs it without and with Sibyl and sets the two beside each other. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repetitions = 60, warm_up = 5 };

static int rank, size;

static uint64_t mix(uint64_t hash, const void* data, size_t bytes) {
  const unsigned char* byte = data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* On page boundaries, so that a run is not slower than the next for where its buffers lie. */
static long* buffer_of(size_t elements) {
  const size_t page = 4096, bytes = (elements * sizeof(long) + page - 1) / page * page;
  long* buffer = aligned_alloc(page, bytes);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(buffer, 0, bytes);
  return buffer;
}

static void call(const char* name, const long* input, long* output, int count, int root) {
  if (strcmp(name, "exscan") == 0) {
    MPI_Exscan(input, output, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(name, "scan") == 0) {
    MPI_Scan(input, output, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(name, "gather") == 0) {
    MPI_Gather(input, count, MPI_LONG, output, count, MPI_LONG, root, MPI_COMM_WORLD);
  } else {
    MPI_Scatter(input, count, MPI_LONG, output, count, MPI_LONG, root, MPI_COMM_WORLD);
  }
}

static void measure(const char* name, int count) {
  const size_t elements = (size_t)count * (size_t)size;
  long* input = buffer_of(elements);
  long* output = buffer_of(elements);
  double times[repetitions];
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = -warm_up; i < repetitions; ++i) {
    for (size_t e = 0; e < elements; ++e) input[e] = (long)e * 7 + rank * 1000003L + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    call(name, input, output, count, (i + warm_up) % size);
    double mine = MPI_Wtime() - begin, slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 0) times[i] = slowest;
    hash = mix(hash, output, elements * sizeof *output);
  }
  uint64_t all = 0;
  MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  qsort(times, repetitions, sizeof *times, by_value);
  if (rank == 0) {
    printf("%s %d %.2f us checksum %016llx\n", name, count, times[repetitions / 2] * 1e6,
           (unsigned long long)all);
  }
  free(input);
  free(output);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static const char* const names[] = {"gather", "scatter", "exscan", "scan"};
  static const int counts[] = {1, 1000, 100000};
  for (int n = 0; n < 4; ++n) {
    for (int c = 0; c < 3; ++c) measure(names[n], counts[c]);
  }
  MPI_Finalize();
  return 0;
}
