/* A rank's error handler revokes another communicator than the one in which it met a death, as
 * programs with rows and columns do: those who wait there, none of whom has died, are told. */
#include <mpi.h>

#include <mpi-ext.h> /* needs what stands in the other */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { elements = 50000, longest = 30 };

static MPI_Comm others = MPI_COMM_NULL;
static int sent[elements], received[elements];

static void revoke_others(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  MPIX_Comm_revoke(others);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, class = MPI_SUCCESS;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &others);
  MPI_Comm_create_errhandler(revoke_others, &handler);
  MPI_Comm_set_errhandler(all, handler);
  if (rank != 0) MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN);
  for (int i = 0; i < 6; ++i) {
    MPI_Allreduce(sent, received, elements, MPI_INT, MPI_SUM, all);
    if (rank != 0) MPI_Allreduce(sent, received, elements, MPI_INT, MPI_SUM, others);
  }
  if (rank == 0) raise(SIGKILL);
  alarm(longest);
  if (rank == 1) {
    MPI_Allreduce(sent, received, elements, MPI_INT, MPI_SUM, all);
    /* Its end would be a death that the others are told of. */
    for (int r = 2; r < size; ++r) {
      MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else {
    const int error = MPI_Allreduce(sent, received, elements, MPI_INT, MPI_SUM, others);
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    printf("rank %d: %s\n", rank, class == MPIX_ERR_REVOKED ? "revoked" : "wrong");
    fflush(stdout);
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  _exit(0); /* MPI_Finalize after a death is no matter of this test */
}
