/* Error handlers that leave a delete callback, and MPI_Comm_free, by longjmp: rank 0 alone, on
 * communicators of its own. Others may have the same handles later, on which it must be served as
 * the other ranks are. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "everyone.h"

static jmp_buf before_freeing;
static int jumps;

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(before_freeing, 1);
}

static int make_error(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, comm);
  return MPI_SUCCESS;
}

static void free_and_jump(MPI_Errhandler handler, int key) {
  static MPI_Comm alone;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Comm_set_attr(alone, key, NULL);
  MPI_Comm_set_errhandler(alone, handler);
  if (setjmp(before_freeing) == 0) {
    MPI_Comm_free(&alone);
  } else {
    ++jumps;
  }
}

/* Writes over what functions that were left have had on the stack. */
static void write_over(char* text) { memset(text, 0x5a, 16384); }

static int use(MPI_Comm comm, int rank) {
  char text[16384];
  int wrong = 0;
  write_over(text);
  for (int i = 0; i < 5; ++i) {
    int one = 1, sum = -1;
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != rank + 1;
    wrong += use_everyone(comm, 3, i);
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  int rank, key, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, make_error, &key, NULL);
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm;
    if (rank == 0) free_and_jump(handler, key);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    wrong += use(comm, rank);
    MPI_Comm_free(&comm);
    wrong += use(MPI_COMM_WORLD, rank);
  }
  printf("%d: %d jumps, %s\n", rank, jumps, wrong == 0 ? "right" : "WRONG");
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
