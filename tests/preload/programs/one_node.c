/* Allreduces and bcasts in turns, so many of each by the world and by a copy of it, of so many
 * integers: one_node WORLD COPY ELEMENTS. Prints sums of what comes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long long sum_of(const int* values, int count) {
  long long sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 31 + values[i];
  return sum;
}

static long long calls(MPI_Comm comm, int times, int count, int* own, int* all) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long long found = 0;
  for (int call = 0; call < times; ++call) {
    const int root = call % size;
    for (int i = 0; i < count; ++i) own[i] = (rank + 1) * (call + i) % 1000;
    MPI_Allreduce(own, all, count, MPI_INT, MPI_SUM, comm);
    found += sum_of(all, count);
    MPI_Bcast(own, count, MPI_INT, root, comm);
    found += sum_of(own, count);
  }
  return found;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int count = atoi(argv[3]);
  MPI_Init(NULL, NULL);
  int* own = malloc(sizeof(int) * (size_t)count);
  int* all = malloc(sizeof(int) * (size_t)count);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const long long of_world = calls(MPI_COMM_WORLD, atoi(argv[1]), count, own, all);
  const long long of_copy = calls(copy, atoi(argv[2]), count, own, all);
  MPI_Comm_free(&copy);
  printf("%lld %lld\n", of_world, of_copy);
  free(own);
  free(all);
  MPI_Finalize();
  return 0;
}
