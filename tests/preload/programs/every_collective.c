/* Each collective that Sibyl serves, five times on the world, and a line with what came out of it.
 */
#include <mpi.h>
#include <stdio.h>

enum { times = 5, most = 64 };

static int rank, size;

static void tell(const char* name, long sum) { printf("%d %s %ld\n", rank, name, sum); }

static long added(const long* values, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum = 3 * sum + values[i];
  return sum % 1000003;
}

int main(int argc, char** argv) {
  long own[most], all[most], sums[16] = {0};
  int counts[most], places[most];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most) return 1;
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    places[r] = size - 1 - r;
  }
  for (int i = 0; i < times; ++i) {
    const int root = i % size;
    const int at_root = rank == root;
    for (int r = 0; r < size; ++r) own[r] = 100 * rank + 10 * r + i;
#define CALL(number, call, count)             \
  for (int r = 0; r < size; ++r) all[r] = -1; \
  if ((call) != MPI_SUCCESS) return 2;        \
  sums[number] = 7 * sums[number] + ((count) > 0 ? added(all, count) : 0)
    CALL(0, MPI_Exscan(own, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), rank > 0);
    CALL(1, MPI_Scan(own, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), 1);
    CALL(2, MPI_Reduce(own, all, size, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD), at_root * size);
    CALL(3, MPI_Gather(own, 1, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD), at_root * size);
    CALL(4, MPI_Scatter(own, 1, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD), 1);
    CALL(5, MPI_Gatherv(own, 1, MPI_LONG, all, counts, places, MPI_LONG, root, MPI_COMM_WORLD),
         at_root * size);
    CALL(6, MPI_Scatterv(own, counts, places, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD), 1);
    CALL(7, MPI_Allreduce(own, all, size, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), size);
    CALL(8, MPI_Reduce_scatter(own, all, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), 1);
    CALL(9, MPI_Reduce_scatter_block(own, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), 1);
    CALL(10, MPI_Allgather(own, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD), size);
    CALL(11, MPI_Allgatherv(own, 1, MPI_LONG, all, counts, places, MPI_LONG, MPI_COMM_WORLD), size);
    CALL(12, MPI_Alltoall(own, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD), size);
    CALL(
        13,
        MPI_Alltoallv(own, counts, places, MPI_LONG, all, counts, places, MPI_LONG, MPI_COMM_WORLD),
        size);
    if (MPI_Bcast(own, size, MPI_LONG, root, MPI_COMM_WORLD) != MPI_SUCCESS) return 2;
    sums[14] = 7 * sums[14] + added(own, size);
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) return 2;
    ++sums[15];
  }
  const char* const names[] = {
      "exscan",    "scan",       "reduce",    "gather",         "scatter",
      "gatherv",   "scatterv",   "allreduce", "reduce_scatter", "reduce_scatter_block",
      "allgather", "allgatherv", "alltoall",  "alltoallv",      "bcast",
      "barrier"};
  for (int i = 0; i < 16; ++i) tell(names[i], sums[i]);
  MPI_Finalize();
  return 0;
}
