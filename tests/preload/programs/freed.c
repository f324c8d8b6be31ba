/* Collectives in delete callbacks that MPI_Comm_free and MPI_Comm_disconnect call, on the
 * communicator that is freed: set before its first collective, after it, at other moments on other
 * ranks, and copied by MPI_Comm_dup. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, calls, wrong;

static void use(MPI_Comm comm) {
  for (int i = 0; i < 4; ++i) {
    int one = 1, sum = -1;
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size;
  }
}

static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  ++calls;
  use(comm);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int key, copied;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &copied, NULL);
  MPI_Comm parent;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_attr(parent, copied, NULL);
  for (int turn = 0; turn < 24; ++turn) {
    MPI_Comm comm;
    MPI_Comm_dup(turn % 6 < 4 ? MPI_COMM_WORLD : parent, &comm);
    const int early = turn % 3 == 2 ? rank % 2 : turn % 3;
    if (early) MPI_Comm_set_attr(comm, key, NULL);
    if (turn % 4 != 3) use(comm);
    if (!early) MPI_Comm_set_attr(comm, key, NULL);
    if (turn % 2 == 0)
      MPI_Comm_free(&comm);
    else
      MPI_Comm_disconnect(&comm);
    use(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&parent);
  printf("%d: %d callbacks, %s\n", rank, calls, wrong == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return 0;
}
