/* MPI is used in a session, whose communicator is not freed, and again in a second one, where the
 * communicator may have the same handle. There rank 0 broadcasts four bytes and the others an int,
 * which is the same message: what one rank may know of the first session another does not.
 */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4
static MPI_Comm begin(MPI_Session* session) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
  MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(void) {
  enum { calls = 6 };
  MPI_Session session;
  int rank, value = 0;
  MPI_Comm comm = begin(&session);
  for (int i = 0; i < calls; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  MPI_Session_finalize(&session);
  comm = begin(&session);
  MPI_Comm_rank(comm, &rank);
  for (int i = 1; i <= calls; ++i) {
    if (rank == 0) value = i;
    MPI_Bcast(&value, rank == 0 ? 4 : 1, rank == 0 ? MPI_BYTE : MPI_INT, 0, comm);
    if (value != i) printf("rank %d: %d instead of %d\n", rank, value, i);
  }
  printf("rank %d: both sessions are over\n", rank);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
}
#else
int main(void) {
  printf("no sessions\n");
  return 0;
}
#endif
