/* Gatherv and scatterv that one rank refuses among many that all make. The next call of that rank
 * then meets the others' refused one, so it makes one more at the end; nobody may wait for anything
 * else, whichever tree the blocks go along. Arguments: the rank that refuses, gatherv|scatterv. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 20, refused = 7, most = 64 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || size > most) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int refuses = atoi(argv[1]) == rank;
  const int scatters = strcmp(argv[2], "scatterv") == 0;
  int counts[most], at[most], all[most], own, wrong = 0, errors = 0;
  for (int i = 0; i < size; ++i) counts[i] = 1, at[i] = i;
  for (int call = 0; call < calls + refuses; ++call) {
    MPI_Datatype type = refuses && call == refused ? MPI_DATATYPE_NULL : MPI_INT;
    int error;
    for (int i = 0; i < size; ++i) all[i] = scatters ? i : -1;
    own = scatters ? -1 : rank;
    if (scatters) {
      error = MPI_Scatterv(all, counts, at, MPI_INT, &own, 1, type, 0, MPI_COMM_WORLD);
    } else {
      error = MPI_Gatherv(&own, 1, type, all, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
    }
    errors += error != MPI_SUCCESS;
    if (error == MPI_SUCCESS && own != rank) ++wrong;
    for (int i = 0; rank == 0 && i < size; ++i) wrong += all[i] != i;
  }
  printf("%d refused %d, wrong %d\n", rank, errors, wrong);
  MPI_Finalize();
  return 0;
}
