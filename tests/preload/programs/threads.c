/* Several threads make their first MPI calls at the same time, each on a communicator of its own.
 * It knows nothing of Sibyl.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "everyone.h"

enum { threads = 4, calls = 50 };

static MPI_Comm comms[threads];
static long sums[threads];
static pthread_barrier_t together;

static void* work(void* argument) {
  const int me = (int)(long)argument;
  const MPI_Comm comm = comms[me];
  int rank, size, all[64];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  pthread_barrier_wait(&together);
  for (int i = 0; i < calls; ++i) {
    int value = rank + me + i, result = 0;
    MPI_Exscan(&value, &result, 1, MPI_INT, MPI_SUM, comm);
    sums[me] += rank == 0 ? 0 : result;
    MPI_Scan(&value, &result, 1, MPI_INT, MPI_MAX, comm);
    sums[me] += result;
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, i % size, comm);
    if (rank == i % size) {
      for (int k = 0; k < size; ++k) sums[me] += (k + 1) * all[k];
    }
    MPI_Scatter(all, 1, MPI_INT, &result, 1, MPI_INT, i % size, comm);
    sums[me] += result;
    if (i % 5 == 0 && use_everyone(comm, i % 2 == 0 ? everyone_elements : 3, i + me) != 0) {
      printf("rank %d thread %d: WRONG\n", rank, me);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank;
  pthread_t ids[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    printf("this MPI allows no calls from several threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  pthread_barrier_init(&together, NULL, threads);
  for (long i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) {
    printf("rank %d thread %d: %ld\n", rank, i, sums[i]);
    MPI_Comm_free(&comms[i]);
  }
  MPI_Finalize();
  return 0;
}
