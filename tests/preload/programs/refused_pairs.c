/* Reductions of an operator that MPI does not give to the type, which the MPI library refuses: made
 * by one rank alone several times, each on its own communicator, before and after that one is set
 * up; by all, of nothing. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static int refused(int which, int count, MPI_Comm comm) {
  double in[64] = {1}, out[64];
  int counts[16], class = 0;
  for (int r = 0; r < 16; ++r) counts[r] = count;
  int error = MPI_SUCCESS;
  switch (which) {
    case 0:
      error = MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_BAND, comm);
      break;
    case 1:
      error = MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_MAXLOC, 0, comm);
      break;
    case 2:
      error = MPI_Scan(in, out, count, MPI_DOUBLE, MPI_BXOR, comm);
      break;
    case 3:
      error = MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_BOR, comm);
      break;
    case 4:
      error = MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_BAND, comm);
      break;
    default:
      error = MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_BAND, comm);
  }
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  return class;
}

static int is_right(int calls, MPI_Comm comm) {
  int right = 1;
  for (int i = 0; i < calls; ++i) {
    int one = 1, sum = -1;
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right = right && sum == rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right = right && sum == size;
  }
  return right;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int before = 0; before <= 40; before += 40) {
    for (int which = 0; which < 6; ++which) {
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      int right = is_right(before, comm);
      int class = 0;
      for (int i = 0; rank == which % size && i < 2 + which % 3; ++i)
        class = refused(which, 1, comm);
      right = is_right(40, comm) && right;
      const int of_nothing = refused(which, 0, comm);
      right = is_right(2, comm) && right;
      printf("%d: %d after %d: class %d, of nothing %d: %s\n", rank, which, before, class,
             of_nothing, right ? "right" : "WRONG");
      MPI_Comm_free(&comm);
    }
  }
  MPI_Finalize();
  return 0;
}
