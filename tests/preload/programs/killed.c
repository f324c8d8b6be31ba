/* Reduces with an operator in which rank 1 is killed when it combines for the eighth time in the
 * fifth call: in the middle of an algorithm that works in segments. With an argument it lives. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 65536, calls = 8 };

static int dies = 0;
static int left = 8;

static void add(void* in, void* out, int* elements, MPI_Datatype* type) {
  (void)type;
  const int* from = in;
  int* to = out;
  if (dies && --left == 0) raise(SIGKILL);
  for (int i = 0; i < *elements; ++i) to[i] += from[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  int* send = calloc(count, sizeof *send);
  int* receive = calloc(count, sizeof *receive);
  if (send == NULL || receive == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int call = 0; call < calls; ++call) {
    dies = argc < 2 && rank == 1 && call == 4;
    MPI_Reduce(send, receive, count, MPI_INT, op, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("all calls are over");
  free(send);
  free(receive);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
