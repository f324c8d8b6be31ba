/* The collectives in which every rank gets a result, for the programs about MPI's corners: right
 * calls of them, and wrong ones. C, and C++ as well.
 */
#include <mpi.h>
#include <string.h>

enum { everyone_ranks = 16, everyone_elements = 512 };

static int everyone_value(int seed, int rank, int place) { return seed + 100 * rank + place % 7; }

/* How many elements of a result are not what all ranks' vectors add up to, from `place` on. */
static int everyone_wrong_sums(const int* result, int count, int seed, int place, int ranks) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const int sum = ranks * everyone_value(seed, 0, place + i) + 100 * (ranks * (ranks - 1) / 2);
    wrong += result[i] != sum;
  }
  return wrong;
}

/* How many elements of a block are not those of this rank from `place` on. */
static int everyone_wrong_block(const int* block, int count, int seed, int rank, int place) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += block[i] != everyone_value(seed, rank, place + i);
  return wrong;
}

/* Each once on a communicator of few ranks, in blocks of so many elements or half as many; the same
 * words on all ranks. Returns how much was wrong here. */
static int use_everyone(MPI_Comm comm, int elements, int seed) {
  int send[everyone_ranks * everyone_elements], receive[everyone_ranks * everyone_elements];
  int counts[everyone_ranks], places[everyone_ranks], own[everyone_ranks];
  int rank, size, failed = 0, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size > everyone_ranks || elements > everyone_elements) return 1;
  for (int i = 0; i < size * elements; ++i) send[i] = everyone_value(seed, rank, i);
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 2 == 0 ? elements : elements / 2;
    places[r] = r * elements;
  }
  for (int r = 0; r < size; ++r) own[r] = counts[rank];
  const int mine = counts[rank];

  memset(receive, 0, sizeof receive);
  failed += MPI_Allreduce(send, receive, elements, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
  wrong += everyone_wrong_sums(receive, elements, seed, 0, size);

  memset(receive, 0, sizeof receive);
  if (rank == seed % size) memcpy(receive, send, (size_t)elements * sizeof(int));
  failed += MPI_Bcast(receive, elements, MPI_INT, seed % size, comm) != MPI_SUCCESS;
  wrong += everyone_wrong_block(receive, elements, seed, seed % size, 0);

  memset(receive, 0, sizeof receive);
  failed +=
      MPI_Reduce_scatter_block(send, receive, elements, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
  wrong += everyone_wrong_sums(receive, elements, seed, rank * elements, size);

  memset(receive, 0, sizeof receive);
  failed += MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
  int before = 0;
  for (int r = 0; r < rank; ++r) before += counts[r];
  wrong += everyone_wrong_sums(receive, mine, seed, before, size);

  memset(receive, 0, sizeof receive);
  failed += MPI_Allgather(send, elements, MPI_INT, receive, elements, MPI_INT, comm) != MPI_SUCCESS;
  for (int r = 0; r < size; ++r) {
    wrong += everyone_wrong_block(receive + places[r], elements, seed, r, 0);
  }

  memset(receive, 0, sizeof receive);
  failed +=
      MPI_Allgatherv(send, mine, MPI_INT, receive, counts, places, MPI_INT, comm) != MPI_SUCCESS;
  for (int r = 0; r < size; ++r) {
    wrong += everyone_wrong_block(receive + places[r], counts[r], seed, r, 0);
  }

  memset(receive, 0, sizeof receive);
  failed += MPI_Alltoall(send, elements, MPI_INT, receive, elements, MPI_INT, comm) != MPI_SUCCESS;
  for (int r = 0; r < size; ++r) {
    wrong += everyone_wrong_block(receive + places[r], elements, seed, r, places[rank]);
  }

  memset(receive, 0, sizeof receive);
  failed += MPI_Alltoallv(send, counts, places, MPI_INT, receive, own, places, MPI_INT, comm) !=
            MPI_SUCCESS;
  for (int r = 0; r < size; ++r) {
    wrong += everyone_wrong_block(receive + places[r], mine, seed, r, places[rank]);
  }

  failed += MPI_Barrier(comm) != MPI_SUCCESS;
  return wrong + failed;
}
