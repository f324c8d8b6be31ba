/* Sends a program's calls by the recorder and past it, in blocks of so many allreduces, so that
 * both are measured in one run: what else the machine does meets neighbouring blocks alike, while
 * whole runs of a busy machine differ by a sixth.
 *
 * Preloaded, before the recorder, it writes FOLDER/RANK in MPI_Finalize, FOLDER being ALTERNATE's
 * value: a line "RECORDED SECONDS" for each block, of which every second pair is turned round. All
 * ranks have to make the same allreduces, so that they change over together. The functions are
 * those that LAMMPS calls in its steps; all others always pass by the recorder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { allreduces_of_block = 200, most_blocks = 1 << 16 };

static long allreduces;
static int recorded = 1;
static double began;
static int blocks;
static double seconds[most_blocks];
static char was_recorded[most_blocks];

/* 1 0 0 1 1 0 0 1 ... */
static int is_recorded(long block) { return ((block + 1) / 2) % 2 == 0; }

static void next_block(void) {
  const double now = MPI_Wtime();
  if (began > 0 && blocks < most_blocks) {
    seconds[blocks] = now - began;
    was_recorded[blocks++] = (char)recorded;
  }
  began = now;
  recorded = is_recorded(blocks);
}

/* MPI_<name>, by the recorder, which has the symbol next, or directly. */
#define TAKE(name, before, parameters, arguments)                      \
  int MPI_##name parameters {                                          \
    static int(*next) parameters;                                      \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "MPI_" #name); \
    before;                                                            \
    return recorded ? next arguments : PMPI_##name arguments;          \
  }

typedef const void* In;
typedef void* Out;
typedef MPI_Datatype Type;

TAKE(Allreduce, if (allreduces++ % allreduces_of_block == 0) next_block(),
     (In s, Out v, int n, Type t, MPI_Op o, MPI_Comm c), (s, v, n, t, o, c))
TAKE(Bcast, , (Out b, int n, Type t, int r, MPI_Comm c), (b, n, t, r, c))
TAKE(Reduce, , (In s, Out v, int n, Type t, MPI_Op o, int r, MPI_Comm c), (s, v, n, t, o, r, c))
TAKE(Scan, , (In s, Out v, int n, Type t, MPI_Op o, MPI_Comm c), (s, v, n, t, o, c))
TAKE(Barrier, , (MPI_Comm c), (c))
TAKE(Recv, , (Out b, int n, Type t, int f, int g, MPI_Comm c, MPI_Status* s), (b, n, t, f, g, c, s))
TAKE(Wait, , (MPI_Request * r, MPI_Status* s), (r, s))
TAKE(Waitany, , (int n, MPI_Request r[], int* i, MPI_Status* s), (n, r, i, s))
TAKE(Waitall, , (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
TAKE(Sendrecv, ,
     (In a, int n, Type t, int d, int g, Out b, int m, Type u, int f, int h, MPI_Comm c,
      MPI_Status* s),
     (a, n, t, d, g, b, m, u, f, h, c, s))

int MPI_Finalize(void) {
  int rank = 0;
  char path[4096];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const folder = getenv("ALTERNATE");
  if (folder != NULL && snprintf(path, sizeof path, "%s/%d", folder, rank) < (int)sizeof path) {
    FILE* const file = fopen(path, "w");
    for (int i = 0; file != NULL && i < blocks; ++i) {
      fprintf(file, "%d %.9f\n", was_recorded[i], seconds[i]);
    }
    if (file != NULL) fclose(file);
  }
  static int (*next)(void);
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
  return next();
}
