/* Adds up how often a process calls each blocking collective, and for how long: what `sibyl
 * profile` says is held against it, so it shares nothing with the recorder, and is as simple as can
 * be.
 *
 * Preloaded, behind the recorder, it writes FOLDER/PID in MPI_Finalize, FOLDER being STOPWATCH's
 * value: a line "NAME CALLS SECONDS" for each. It names no object of MPI's, so that processes
 * without MPI can carry it too, and counts what is called by the names of C. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

struct Watch {
  const char* name;
  uint64_t calls;
  uint64_t nanoseconds;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#define WATCH(name) static struct Watch watch_##name = {#name, 0, 0}

/* MPI_<name>, of which <suffix> is the rest. */
#define TAKE(name, suffix, parameters, arguments)     \
  EXPORTED int MPI_##name##suffix parameters {        \
    const uint64_t begin = now();                     \
    const int result = PMPI_##name##suffix arguments; \
    watch_##name.nanoseconds += now() - begin;        \
    ++watch_##name.calls;                             \
    return result;                                    \
  }

WATCH(Barrier);
WATCH(Bcast);
WATCH(Reduce);
WATCH(Allreduce);
WATCH(Scan);
WATCH(Exscan);
WATCH(Reduce_scatter);
WATCH(Reduce_scatter_block);
WATCH(Gather);
WATCH(Gatherv);
WATCH(Scatter);
WATCH(Scatterv);
WATCH(Allgather);
WATCH(Allgatherv);
WATCH(Alltoall);
WATCH(Alltoallv);

typedef const void* In;
typedef void* Out;
typedef MPI_Datatype Type;

/* All with a count, which is an N, and displacements, which are Ds. */
#define TAKE_ALL(X, N, D)                                                                         \
  TAKE(Bcast, X, (Out b, N n, Type t, int r, MPI_Comm c), (b, n, t, r, c))                        \
  TAKE(Reduce, X, (In s, Out v, N n, Type t, MPI_Op o, int r, MPI_Comm c), (s, v, n, t, o, r, c)) \
  TAKE(Allreduce, X, (In s, Out v, N n, Type t, MPI_Op o, MPI_Comm c), (s, v, n, t, o, c))        \
  TAKE(Scan, X, (In s, Out v, N n, Type t, MPI_Op o, MPI_Comm c), (s, v, n, t, o, c))             \
  TAKE(Exscan, X, (In s, Out v, N n, Type t, MPI_Op o, MPI_Comm c), (s, v, n, t, o, c))           \
  TAKE(Reduce_scatter, X, (In s, Out v, const N n[], Type t, MPI_Op o, MPI_Comm c),               \
       (s, v, n, t, o, c))                                                                        \
  TAKE(Reduce_scatter_block, X, (In s, Out v, N n, Type t, MPI_Op o, MPI_Comm c),                 \
       (s, v, n, t, o, c))                                                                        \
  TAKE(Gather, X, (In s, N n, Type t, Out v, N m, Type u, int r, MPI_Comm c),                     \
       (s, n, t, v, m, u, r, c))                                                                  \
  TAKE(Gatherv, X,                                                                                \
       (In s, N n, Type t, Out v, const N m[], const D d[], Type u, int r, MPI_Comm c),           \
       (s, n, t, v, m, d, u, r, c))                                                               \
  TAKE(Scatter, X, (In s, N n, Type t, Out v, N m, Type u, int r, MPI_Comm c),                    \
       (s, n, t, v, m, u, r, c))                                                                  \
  TAKE(Scatterv, X,                                                                               \
       (In s, const N n[], const D d[], Type t, Out v, N m, Type u, int r, MPI_Comm c),           \
       (s, n, d, t, v, m, u, r, c))                                                               \
  TAKE(Allgather, X, (In s, N n, Type t, Out v, N m, Type u, MPI_Comm c), (s, n, t, v, m, u, c))  \
  TAKE(Allgatherv, X, (In s, N n, Type t, Out v, const N m[], const D d[], Type u, MPI_Comm c),   \
       (s, n, t, v, m, d, u, c))                                                                  \
  TAKE(Alltoall, X, (In s, N n, Type t, Out v, N m, Type u, MPI_Comm c), (s, n, t, v, m, u, c))   \
  TAKE(Alltoallv, X,                                                                              \
       (In s, const N n[], const D d[], Type t, Out v, const N m[], const D e[], Type u,          \
        MPI_Comm c),                                                                              \
       (s, n, d, t, v, m, e, u, c))

TAKE(Barrier, , (MPI_Comm c), (c))
TAKE_ALL(, int, int)
#if MPI_VERSION >= 4 /* mpi4py calls these where they are */
TAKE_ALL(_c, MPI_Count, MPI_Aint)
#endif

EXPORTED int MPI_Finalize(void) {
  const struct Watch* const watches[] = {
      &watch_Barrier,   &watch_Bcast,      &watch_Reduce,         &watch_Allreduce,
      &watch_Scan,      &watch_Exscan,     &watch_Reduce_scatter, &watch_Reduce_scatter_block,
      &watch_Gather,    &watch_Gatherv,    &watch_Scatter,        &watch_Scatterv,
      &watch_Allgather, &watch_Allgatherv, &watch_Alltoall,       &watch_Alltoallv};
  const char* folder = getenv("STOPWATCH");
  char path[4096];
  if (folder != NULL &&
      snprintf(path, sizeof path, "%s/%d", folder, (int)getpid()) < (int)sizeof path) {
    FILE* file = fopen(path, "w");
    for (size_t i = 0; file != NULL && i < sizeof watches / sizeof *watches; ++i) {
      fprintf(file, "%s %llu %.9f\n", watches[i]->name, (unsigned long long)watches[i]->calls,
              (double)watches[i]->nanoseconds * 1e-9);
    }
    if (file != NULL) fclose(file);
  }
  return PMPI_Finalize();
}
