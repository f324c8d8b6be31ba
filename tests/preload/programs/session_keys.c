/* Communicators of a session, made, used and freed, in a program that never calls MPI_Init. Prints
 * how many attribute keys were made meanwhile, its own last one included: libraries number them in
 * turn. Knows nothing of Sibyl. */
#include <mpi.h>
#include <stdio.h>

/* Open MPI 5 has sessions, and says that it is an MPI of before. */
#if MPI_VERSION < 4 && !(defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(void) {
  printf("no sessions\n");
  return 0;
}
#else

static int make_key(void) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  return key;
}

int main(void) {
  MPI_Session session;
  MPI_Group all;
  int value = 1, sum = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  const int before = make_key();
  for (int turn = 0; turn < 20; ++turn) {
    MPI_Comm comm;
    MPI_Comm_create_from_group(all, "keys", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
  }
  printf("%d keys\n", make_key() - before);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
  return 0;
}
#endif
