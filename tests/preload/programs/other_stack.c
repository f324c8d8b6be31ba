/* Calls from inside a call, but on another stack: a user-defined operator hands over to a context
 * of the program's own, as libraries for light threads do, and that makes the calls. Once they lie
 * above the outer call's stack, once below. They belong inside the outer call all the same and must
 * go native; the driver checks that not one of these MPI_Scan was served.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { stack_size = 1 << 20 };
static ucontext_t here, there;
static char* stack;
static int scans;

static void make_scans(void) {
  for (int k = 0; k < 4; ++k) {
    int one = 1, result = 0;
    MPI_Scan(&one, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    scans += result;
  }
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = stack_size;
  there.uc_link = &here;
  makecontext(&there, make_scans, 0);
  swapcontext(&here, &there);
}

static void make_outer_calls(MPI_Op op, int rank, int* sum) {
  for (int i = 0; i < 6; ++i) {
    int value = rank + i, result = 0;
    MPI_Reduce(&value, &result, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    *sum += result;
  }
}

static int sum, rank;
static MPI_Op op;
static ucontext_t main_context, outer;
static void outer_calls(void) { make_outer_calls(op, rank, &sum); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(add, 1, &op);
  /* The outer call on the thread's own stack, the inner ones on another. */
  char* both =
      mmap(NULL, 2 * stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (both == MAP_FAILED) return 1;
  stack = both;
  outer_calls();
  /* Both on others, the inner one above and below the outer one. */
  for (int above = 0; above < 2; ++above) {
    stack = both + (above ? stack_size : 0);
    getcontext(&outer);
    outer.uc_stack.ss_sp = both + (above ? 0 : stack_size);
    outer.uc_stack.ss_size = stack_size;
    outer.uc_link = &main_context;
    makecontext(&outer, outer_calls, 0);
    swapcontext(&main_context, &outer);
  }
  MPI_Allreduce(MPI_IN_PLACE, &scans, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d, %s\n", sum, scans > 0 ? "scans made" : "no scan was made");
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
