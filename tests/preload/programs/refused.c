/* Calls that the MPI library refuses at one rank: made by that rank alone, or by all, and then
 * everybody goes on. Prints classes and, after each, that further collectives are right.
 *
 * An argument chooses what stands between the calls: "barrier", or nothing. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, barrier;
static int in[64], out[64], counts[16], displs[16];

static int class_of(int error) {
  int class = 0;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  return class;
}

static void between(void) {
  if (barrier) MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank's contribution is the same at every call: a rank that has missed a call gets that
 * call's messages at the next one, as it does natively. */
static void go_on(MPI_Comm comm, const char* after) {
  int right = 1;
  for (int i = 0; i < 6; ++i) {
    int one = 1, sum = -1;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0 && sum != size) right = 0;
    between();
    int all[16] = {0};
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    for (int r = 0; rank == 0 && r < size; ++r) right = right && all[r] == r;
    between();
    sum = -1;
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != rank + 1) right = 0;
    between();
  }
  printf("%d after %s: %s\n", rank, after, right ? "right" : "WRONG");
}

static void say(const char* call, int error) { printf("%d %s: %d\n", rank, call, class_of(error)); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  barrier = argc > 1 && strcmp(argv[1], "barrier") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < 16; ++r) counts[r] = displs[r] = r < size ? 1 : 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

  /* Rank 0 alone. */
  if (rank == 0) {
    say("reduce of no type", MPI_Reduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm));
    say("reduce of no operator", MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    say("reduce to no rank", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size, comm));
    say("reduce of one buffer", MPI_Reduce(in, in, 1, MPI_INT, MPI_SUM, 0, comm));
    say("gather of no type", MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm));
    say("gather of less than nothing", MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm));
    say("scatter to no type", MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, 0, comm));
    say("gatherv to no type",
        MPI_Gatherv(in, 1, MPI_INT, out, counts, displs, MPI_DATATYPE_NULL, 0, comm));
    say("scatterv of no type",
        MPI_Scatterv(in, counts, displs, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm));
    say("scan of no type", MPI_Scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    say("exscan of no operator", MPI_Exscan(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    if (strstr(version, "MPICH") != NULL) { /* Open MPI goes on with these, and waits */
      say("gather of one buffer", MPI_Gather(in, 1, MPI_INT, in, 1, MPI_INT, 0, comm));
      say("scatter of one buffer", MPI_Scatter(in, 1, MPI_INT, in, 1, MPI_INT, 0, comm));
      say("scan of one buffer", MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, comm));
    }
  }
  between();
  go_on(comm, "what rank 0 did alone");

  /* All ranks, of which rank 0, the root, refuses; the others' data waits for the next call. */
  int one = 1, sum = -1;
  int error = MPI_Reduce(&one, &sum, 1, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, MPI_SUM, 0, comm);
  say("reduce of no type at the root", error);
  between();
  go_on(comm, "what rank 0 refused");

  /* The same on a communicator that has served before, and an error in every kind of call. */
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  go_on(copy, "a duplicate was made");
  if (rank == size - 1) {
    say("reduce of no type", MPI_Reduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, copy));
    say("gather at the last rank", MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, copy));
  }
  go_on(copy, "what the last rank did alone");
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
