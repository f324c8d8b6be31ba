/* Collectives whose root, or every rank, gives the same memory twice, in the place of MPI_IN_PLACE:
 * MPI libraries can be told to let it pass. Prints what every rank has then.
 */
#include <mpi.h>
#include <stdio.h>

enum { most = 16, elements = 3 };
static int rank, size;

static void say(const char* call, int error, const int* values, int count) {
  printf("%d %s %d:", rank, call, error);
  for (int i = 0; i < count; ++i) printf(" %d", values[i]);
  printf("\n");
}

static void all(int turn) {
  const int root = size - 1;
  int blocks[most * elements], own[elements], counts[most], places[most];
  for (int r = 0; r < size; ++r) counts[r] = elements, places[r] = r * elements;
  for (int i = 0; i < elements; ++i) own[i] = 100 * turn + 10 * rank + i;
  const int* block = own;
  if (rank == root) {
    for (int i = 0; i < elements; ++i) blocks[rank * elements + i] = own[i];
    block = blocks + rank * elements;
  }
  const int all_blocks = rank == root ? size * elements : 0;
  int error = MPI_Gather(block, elements, MPI_INT, blocks, elements, MPI_INT, root, MPI_COMM_WORLD);
  say("gather", error, blocks, all_blocks);
  error =
      MPI_Gatherv(block, elements, MPI_INT, blocks, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  say("gatherv", error, blocks, all_blocks);
  int* const part = rank == root ? blocks + rank * elements : own;
  error = MPI_Scatter(blocks, elements, MPI_INT, part, elements, MPI_INT, root, MPI_COMM_WORLD);
  say("scatter", error, part, elements);
  int sum[elements];
  for (int i = 0; i < elements; ++i) sum[i] = own[i];
  error =
      MPI_Reduce(rank == root ? sum : own, sum, elements, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  say("reduce", error, sum, rank == root ? elements : 0);
  for (int i = 0; i < elements; ++i) sum[i] = own[i];
  error = MPI_Allreduce(sum, sum, elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  say("allreduce", error, sum, elements);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int turn = 0; turn < 6; ++turn) all(turn);
  MPI_Finalize();
  return 0;
}
