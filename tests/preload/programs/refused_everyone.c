/* Collectives in which every rank gets a result, with arguments that the MPI library refuses: made
 * by rank 0 alone, and by all of which rank 0 is refused. Prints classes, that nothing was written,
 * and after each that further collectives are right.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 16 };
static int rank, size;
static int in[64], out[64], ones[most], negative[most], displs[most];

static void say(const char* call, int error) {
  int class = 0;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  int written = 0;
  for (int i = 0; i < 64; ++i) written += out[i] != -7;
  printf("%d %s: %d%s\n", rank, call, class, written > 0 ? ", WRONG: written" : "");
}

/* Every rank's contribution is the same at every call: a rank that has missed a call gets that
 * call's messages at the next one, as it does natively. */
static void go_on(const char* after, int calls) {
  int right = 1, result[most], mine[most];
  for (int r = 0; r < size; ++r) mine[r] = 10 * rank + r;
  for (int call = 0; call < calls; ++call) {
    int one = 1, sum = -1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == size;
    int root = rank == size - 1 ? 99 : -1;
    MPI_Bcast(&root, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    right = right && root == 99;
    MPI_Reduce_scatter(ones, &sum, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == size;
    MPI_Reduce_scatter_block(ones, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == size;
    MPI_Allgather(&rank, 1, MPI_INT, result, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) right = right && result[r] == r;
    MPI_Allgatherv(&rank, 1, MPI_INT, result, ones, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) right = right && result[r] == r;
    MPI_Alltoall(mine, 1, MPI_INT, result, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) right = right && result[r] == 10 * r + rank;
    MPI_Alltoallv(mine, ones, displs, MPI_INT, result, ones, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) right = right && result[r] == 10 * r + rank;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("%d after %s: %s\n", rank, after, right ? "right" : "WRONG");
}

static void reductions(MPI_Comm comm) {
  say("allreduce of no type", MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  say("allreduce of no operator", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  say("allreduce into its place", MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  say("reduce_scatter of no type",
      MPI_Reduce_scatter(in, out, ones, MPI_DATATYPE_NULL, MPI_SUM, comm));
  say("reduce_scatter of no operator",
      MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_OP_NULL, comm));
  say("reduce_scatter of less than nothing",
      MPI_Reduce_scatter(in, out, negative, MPI_INT, MPI_SUM, comm));
  say("reduce_scatter_block of no type",
      MPI_Reduce_scatter_block(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
}

static void others(MPI_Comm comm) {
  say("bcast of no type", MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, comm));
  say("bcast of less than nothing", MPI_Bcast(out, -1, MPI_INT, 0, comm));
  say("bcast from no rank", MPI_Bcast(out, 1, MPI_INT, size, comm));
  say("bcast from below", MPI_Bcast(out, 1, MPI_INT, -1, comm));
  say("allgather of no type", MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
  say("allgather to no type", MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm));
  say("allgather of less than nothing", MPI_Allgather(in, 1, MPI_INT, out, -1, MPI_INT, comm));
  say("allgatherv to no type",
      MPI_Allgatherv(in, 1, MPI_INT, out, ones, displs, MPI_DATATYPE_NULL, comm));
  say("alltoall of no type", MPI_Alltoall(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
  say("alltoall of less than nothing", MPI_Alltoall(in, 1, MPI_INT, out, -1, MPI_INT, comm));
  say("alltoallv of no type",
      MPI_Alltoallv(in, ones, displs, MPI_DATATYPE_NULL, out, ones, displs, MPI_INT, comm));
  say("alltoallv of less than nothing",
      MPI_Alltoallv(in, negative, displs, MPI_INT, out, ones, displs, MPI_INT, comm));
  say("alltoallv to less than nothing",
      MPI_Alltoallv(in, ones, displs, MPI_INT, out, negative, displs, MPI_INT, comm));
}

/* The same memory twice, which Open MPI does not look at, and waits. */
static void in_their_place(MPI_Comm comm) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (strstr(version, "MPICH") == NULL) return;
  say("allreduce within a buffer", MPI_Allreduce(out, out, 1, MPI_INT, MPI_SUM, comm));
  say("reduce_scatter within a buffer", MPI_Reduce_scatter(out, out, ones, MPI_INT, MPI_SUM, comm));
  say("reduce_scatter_block within a buffer",
      MPI_Reduce_scatter_block(out, out, 1, MPI_INT, MPI_SUM, comm));
  say("allgather within a buffer", MPI_Allgather(out, 1, MPI_INT, out, 1, MPI_INT, comm));
  say("allgatherv within a buffer",
      MPI_Allgatherv(out, 1, MPI_INT, out, ones, displs, MPI_INT, comm));
  say("alltoall within a buffer", MPI_Alltoall(out, 1, MPI_INT, out, 1, MPI_INT, comm));
  say("alltoallv within a buffer",
      MPI_Alltoallv(out, ones, displs, MPI_INT, out, ones, displs, MPI_INT, comm));
}

/* What not every library looks at: without Sibyl the program ends, or waits. */
static void what_some_let_pass(MPI_Comm comm) {
  say("allreduce of less than nothing", MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm));
  say("reduce_scatter_block of less than nothing",
      MPI_Reduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, comm));
  say("allgatherv of less than nothing",
      MPI_Allgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, comm));
  say("allgatherv without counts",
      MPI_Allgatherv(in, 1, MPI_INT, out, NULL, displs, MPI_INT, comm));
  say("reduce_scatter without counts", MPI_Reduce_scatter(in, out, NULL, MPI_INT, MPI_SUM, comm));
  say("bcast of MPI_IN_PLACE", MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm));
  say("allreduce of no buffer", MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm));
  say("bcast of no buffer", MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
  say("alltoall of no buffer", MPI_Alltoall(NULL, 1, MPI_INT, out, 1, MPI_INT, comm));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 64; ++i) out[i] = -7;
  for (int r = 0; r < most; ++r) ones[r] = 1, negative[r] = r == size - 1 ? -1 : 1;
  for (int r = 0; r < size; ++r) displs[r] = r;
  go_on("nothing", 3);
  if (rank == 0) {
    reductions(MPI_COMM_WORLD);
    others(MPI_COMM_WORLD);
    in_their_place(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "more") == 0) what_some_let_pass(MPI_COMM_WORLD);
  }
  go_on("what rank 0 did alone", 3);

  /* Rank 0 is refused, and then makes the call that the others have made. */
  int one = 1, sum = -1;
  MPI_Datatype type = rank == 0 ? MPI_DATATYPE_NULL : MPI_INT;
  int error = MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    say("allreduce of no type at rank 0", error);
    error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("%d allreduce: %d, %s\n", rank, error, sum == size ? "right" : "WRONG");
  go_on("what rank 0 refused", 3);
  MPI_Finalize();
  return 0;
}
