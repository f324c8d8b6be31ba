/* Processes that start processes: by MPI_Comm_spawn, or with the argument "multiple" by
 * MPI_Comm_spawn_multiple with an info of its own. Parents and children reduce twenty times in
 * their own worlds, then on the merged communicator of both.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { children = 2 };

static long reduces(MPI_Comm comm) {
  int rank;
  long sum = 0;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 20; ++i) {
    int value = rank + i, result = 0;
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, comm);
    sum += result;
  }
  return sum;
}

static MPI_Comm start_one(char* self) {
  MPI_Comm inter;
  MPI_Comm_spawn(self, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  return inter;
}

static MPI_Comm start_multiple(char* self, int rank) {
  MPI_Comm inter;
  MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  char* commands[2] = {self, self};
  int counts[2] = {1, children - 1}, keys;
  MPI_Info_create(&infos[1]);
  MPI_Info_set(infos[1], "wdir", "/");
  /* Only at the root these are looked at. */
  MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, rank == 0 ? infos : NULL, 0,
                          MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  MPI_Info_get_nkeys(infos[1], &keys);
  if (keys != 1) printf("the info has changed\n");
  MPI_Info_free(&infos[1]);
  return inter;
}

int main(int argc, char** argv) {
  MPI_Comm inter, merged;
  int rank, among_all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&inter);
  const int child = inter != MPI_COMM_NULL;
  if (!child) {
    if (argc > 1 && strcmp(argv[1], "bare") == 0) unsetenv("LD_PRELOAD");
    const int multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    inter = multiple ? start_multiple(argv[0], rank) : start_one(argv[0]);
  }
  const char* setting = getenv("SIBYL_FIRST_SEGMENT");
  if (child) fprintf(stderr, "child with %s\n", setting != NULL ? setting : "nothing");
  const long own = reduces(MPI_COMM_WORLD);
  MPI_Intercomm_merge(inter, child, &merged);
  MPI_Comm_rank(merged, &among_all);
  const long all = reduces(merged);
  if (among_all == 0) printf("own %ld, merged %ld\n", own, all);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}
