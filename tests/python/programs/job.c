/* An MPI program for the tests of `sibyl run`: exclusive scans that it checks itself, then one
 * behaviour that its first argument names.
 *
 *   ok | exit CODE | abort CODE | cat LETTERS | sleep | environment NAME | arguments WORDS...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long call = 0; call < 20; ++call) {
    long value = rank + call, before = -1, wanted = 0;
    MPI_Exscan(&value, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < rank; ++r) wanted += r + call;
    if (rank > 0 && before != wanted) {
      fprintf(stderr, "rank %d: %ld instead of %ld\n", rank, before, wanted);
      MPI_Abort(MPI_COMM_WORLD, 99);
    }
  }
  const char* what = argc > 1 ? argv[1] : "ok";
  int code = 0;
  if (strcmp(what, "exit") == 0) {
    code = atoi(argv[2]);
  } else if (strcmp(what, "abort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
  } else if (strcmp(what, "cat") == 0) {
    int letter;
    /* As many letters as said: Open MPI 5.0.11 never passes the end of a pipe on to rank 0. */
    for (long left = atol(argv[2]); rank == 0 && left > 0 && (letter = getchar()) != EOF; --left) {
      putchar(letter);
    }
  } else if (strcmp(what, "sleep") == 0) {
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    for (;;) sleep(60);
  } else if (strcmp(what, "environment") == 0) {
    const char* value = getenv(argv[2]);
    printf("%d %s\n", rank, value == NULL ? "(not set)" : value);
  } else if (strcmp(what, "arguments") == 0 && rank == 0) {
    for (int i = 2; i < argc; ++i) printf("[%s]", argv[i]);
    printf("\n");
  }
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
