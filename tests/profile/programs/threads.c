/* Four threads, each with a communicator of its own, on which it makes a thousand calls, and then
 * as many to itself; then a hundred threads one after the other that make one each. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 4, calls = 1000, more = 100 };
static MPI_Comm comms[threads];

static void* run(void* comm) {
  int one = 1, sum;
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm*)comm); /* of threads */
  }
  int tag = (int)((MPI_Comm*)comm - comms);
  for (int i = 0; i < calls; ++i) {
    MPI_Sendrecv_replace(&one, 1, MPI_INT, 0, tag, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void* run_once(void* comm) {
  MPI_Barrier(*(MPI_Comm*)comm);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t running[threads];
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, run, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
    for (int i = 0; i < more; ++i) {
      pthread_create(&running[0], NULL, run_once, &comms[0]);
      pthread_join(running[0], NULL);
    }
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  } else {
    printf("no threads\n");
  }
  return MPI_Finalize();
}
