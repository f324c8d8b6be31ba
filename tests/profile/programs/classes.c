/* Two threads on one processor, each with a communicator of its own: one of the usual class, which
 * calls all the time, and one of a real-time class, which the processor is taken from it for. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { calls = 2000 };
static MPI_Comm own, other;
static atomic_int is_over;

static void* call_all_the_time(void* unused) {
  (void)unused;
  while (!is_over) MPI_Barrier(other);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  const struct sched_param lowest = {.sched_priority = 1};
  pthread_t thread;
  if (provided != MPI_THREAD_MULTIPLE) {
    printf("no threads\n");
  } else if (sched_setaffinity(0, sizeof one, &one) != 0 ||
             pthread_create(&thread, NULL, call_all_the_time, NULL) != 0) {
    printf("no thread on this processor\n");
  } else {
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) {
      printf("no real-time class\n");
    } else {
      const struct timespec a_little = {0, 20000};
      int value = 0;
      double longest = 0;
      for (int i = 0; i < calls; ++i) {
        nanosleep(&a_little, NULL);
        const double begin = MPI_Wtime();
        MPI_Bcast(&value, 1, MPI_INT, 0, own);
        const double took = MPI_Wtime() - begin;
        if (took > longest) longest = took;
      }
      printf("%f seconds at most\n", longest);
    }
    is_over = 1;
    pthread_join(thread, NULL);
  }
  return MPI_Finalize();
}
