/* Error handlers that leave by longjmp. MPI lets a handler do so where the library can stand it,
 * and both libraries can: the program goes on with its other communicators. Rank 0 alone makes the
 * errors, on a communicator of its own, so that a rank that took itself to be inside a call for
 * ever after would disagree with the others about who performs the collectives of the world. With
 * an argument errors of all kinds, else of one.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "everyone.h"
#include "wrong_calls.h"

static jmp_buf back;
static MPI_Comm own;
static int rank, size, jumps, errors;
static int kinds = 1; /* of wrong calls */

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  longjmp(back, *code == MPI_SUCCESS ? 1 : *code);
}

static void make_error(void) {
  if (rank != 0) return;
  if (setjmp(back) == 0) {
    make_wrong_call(errors++ % kinds, own);
  } else {
    ++jumps;
  }
}

/* Calls from a deeper function than the one that was left: `room` stays as it is on the stack, so
 * that nothing is written over the frames that were left. */
static long deeper(int calls) {
  volatile char room[4096];
  long sum = 0;
  room[0] = (char)calls;
  for (int i = 0; i < calls; ++i) {
    int value = rank + i, result = 0;
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    sum += result;
  }
  return sum + room[0];
}

static void use(char* text) { memset(text, 'x', 65536); }

/* Calls from a lower place: the errors are made with much on the stack, the calls with little. */
static void make_error_far_down(void) {
  char text[65536];
  use(text);
  make_error();
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  long sum = 0;
  int wrong = 0;
  MPI_Init(&argc, &argv);
  if (argc > 1) kinds = wrong_calls;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, handler);
  for (int round = 0; round < 6; ++round) {
    int value = round, result = 0;
    if (round % 2 == 0) make_error();
    if (round % 2 == 1) make_error_far_down();
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    sum += result;
    make_error();
    sum += deeper(3);
    wrong += use_everyone(MPI_COMM_WORLD, 5, round);
    /* On the errors' own communicator right calls are in between, so that some errors are met by
     * the MPI library and others by Sibyl. */
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, own);
    sum += result;
    wrong += use_everyone(own, 5, round);
  }
  if (rank == 0) printf("sum %ld, %d jumps\n", sum, jumps);
  if (wrong != 0) printf("rank %d: WRONG\n", rank);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
