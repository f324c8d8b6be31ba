/* Linked with the library, which is told of no beginning and no end: sessions and a world one after
 * the other, as the argument says: "ssw". In each, collectives on a communicator that ends. */
#include <mpi.h>
#include <stdio.h>

/* Open MPI 5 has sessions, and says that it is an MPI of before. */
#if MPI_VERSION < 4 && !(defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(void) {
  printf("no sessions\n");
  return 0;
}
#else
#ifdef LINKED
#include "sibyl/sibyl.h"
#else
#define SIBYL_Gather MPI_Gather
#endif

static int rank, wrong;

static void use(MPI_Comm comm) {
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 6; ++i) {
    int own = rank + i, all[16] = {0}, size;
    MPI_Comm_size(comm, &size);
    SIBYL_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    for (int r = 0; r < size && rank == 0; ++r) wrong += all[r] != r + i;
  }
}

static void use_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "linked", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  use(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void use_world(void) {
  MPI_Comm comm;
  MPI_Init(NULL, NULL);
  use(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use(comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  for (const char* life = argc > 1 ? argv[1] : "s"; *life != '\0'; ++life) {
    if (*life == 's') use_session();
    if (*life == 'w') use_world();
  }
  printf("rank %d: %s\n", rank, wrong == 0 ? "right" : "WRONG");
  return 0;
}
#endif
