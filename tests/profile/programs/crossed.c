/* Two threads, each with a communicator that was made for it by MPI_Comm_dup, of the world and once
 * more of that. They come to their first calls in one order on even ranks, and in the other on odd
 * ones. Each sums up as many numbers as say which it is.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { threads = 2, calls = 10 };
static MPI_Comm comms[threads], copies[threads];
static int rank;

static void* run(void* comm) {
  const int thread = (int)((MPI_Comm*)comm - comms);
  int numbers[2 * threads] = {0}, sums[2 * threads];
  if ((thread + rank) % 2 != 0) usleep(100000);
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(numbers, sums, thread + 1, MPI_INT, MPI_SUM, comms[thread]);
    MPI_Allreduce(numbers, sums, threads + thread + 1, MPI_INT, MPI_SUM, copies[thread]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t running[threads];
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(comms[i], &copies[i]);
    for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, run, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&copies[i]);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  } else {
    printf("no threads\n");
  }
  return MPI_Finalize();
}
