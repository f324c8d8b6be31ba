/* An MPI program for the tests of `sibyl cluster`; its first argument names one behaviour.
 *
 *   where        rank 0 prints each rank's host, in the order of ranks
 *   exit CODE    ends with that code
 *   time BYTES   rank 1 sends BYTES to rank 0, which prints the seconds
 *   sleep DIR    every rank leaves its process number in DIR, then sleeps
 *   halves FILE BYTES CALLS   so many broadcasts of so many bytes, looked at and one at a time;
 * after half of them rank 0 makes FILE, and all wait until it is gone
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether all vectors came as they were sent. */
static int send_in_halves(int rank, const char* path, int bytes, int calls) {
  const int count = bytes / (int)sizeof(long);
  long* vector = malloc((size_t)bytes);
  int right = 1;
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < count; ++i) vector[i] = rank == 0 ? (long)i * call : -1;
    MPI_Bcast(vector, count, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) right &= vector[i] == (long)i * call;
    MPI_Barrier(MPI_COMM_WORLD);
    if (call != calls / 2) continue;
    /* Nothing is on its way any more. */
    if (rank == 0) {
      FILE* file = fopen(path, "w");
      if (file != NULL) fclose(file);
      while (access(path, F_OK) == 0) usleep(10000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(vector);
  return right;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, length;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long call = 0; call < 5; ++call) {
    long value = rank + call, before = -1, wanted = 0;
    MPI_Exscan(&value, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < rank; ++r) wanted += r + call;
    if (rank > 0 && before != wanted) MPI_Abort(MPI_COMM_WORLD, 99);
  }
  const char* what = argc > 1 ? argv[1] : "where";
  int code = 0;
  if (strcmp(what, "where") == 0) {
    char name[MPI_MAX_PROCESSOR_NAME] = {0};
    MPI_Get_processor_name(name, &length);
    char* all = calloc((size_t)size, sizeof name);
    MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; ++r) printf("%s\n", all + (size_t)r * sizeof name);
    free(all);
  } else if (strcmp(what, "exit") == 0) {
    code = atoi(argv[2]);
  } else if (strcmp(what, "time") == 0) {
    const int bytes = atoi(argv[2]);
    char* data = calloc((size_t)bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 1) MPI_Send(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("%.6f\n", MPI_Wtime() - start);
    }
    free(data);
  } else if (strcmp(what, "sleep") == 0) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d-%ld", argv[2], rank, (long)getpid());
    FILE* file = fopen(path, "w");
    if (file != NULL) fclose(file);
    for (;;) sleep(60);
  } else if (strcmp(what, "halves") == 0) {
    code = send_in_halves(rank, argv[2], atoi(argv[3]), atoi(argv[4])) ? 0 : 3;
  }
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
