/* A program of a user: calls the installed library and checks what it computes. */
#include <mpi.h>
#include <sibyl/sibyl.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0, wrong = 0, major = -1, minor = -1, patch = -1;
  long value = 0, before = -1, gathered[64], scattered = -1;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 64) MPI_Abort(MPI_COMM_WORLD, 2);

  SIBYL_Get_version(&major, &minor, &patch);
  wrong |= major != SIBYL_VERSION_MAJOR || minor != SIBYL_VERSION_MINOR;

  value = rank + 1;
  SIBYL_Exscan(&value, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  wrong |= before != (rank == 0 ? -1 : (long)rank * (rank + 1) / 2);

  SIBYL_Gather(&value, 1, MPI_LONG, gathered, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < size; ++i) wrong |= gathered[i] != i + 1;
  }
  SIBYL_Scatter(gathered, 1, MPI_LONG, &scattered, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  wrong |= scattered != rank + 1;

  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  if (rank == 0) printf("%s on %d ranks\n", wrong ? "wrong" : "right", size);
  MPI_Finalize();
  return wrong;
}
