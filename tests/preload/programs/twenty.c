/* Twenty reduces and twenty gathers, and a file that all ranks write: the MPI library gathers what
 * they want to write by PMPI_Gather, called through the dynamic linker.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int write_file(const char* name, int rank) {
  MPI_File file;
  char text[16];
  int failed = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                             &file) != MPI_SUCCESS;
  if (failed) return failed;
  snprintf(text, sizeof text, "rank %9d\n", rank);
  failed |= MPI_File_set_view(file, 15 * rank, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
  failed |= MPI_File_write_all(file, text, 15, MPI_CHAR, MPI_STATUS_IGNORE);
  failed |= MPI_File_close(&file);
  return failed;
}

int main(int argc, char** argv) {
  int rank, size, all[64];
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 64) return 1;
  for (int i = 0; i < 20; ++i) {
    int value = rank + i, result = 0;
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    sum += result;
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) sum += all[size - 1];
  }
  for (int i = 1; i < argc && i < 2; ++i) {
    for (int k = 0; k < 4; ++k) {
      if (write_file(argv[i], rank)) printf("rank %d could not write\n", rank);
    }
  }
  if (rank == 0) printf("sum %ld\n", sum);
  MPI_Finalize();
  return 0;
}
