/* MPI sessions: without MPI_Init, several one after another, two at a time, beside the world, and
 * a session's communicator that is used and freed after MPI_Finalize, and a session that rank 0
 * alone has used before MPI_Init.
 *
 *   sessions alone|turns|both|after|one */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 5 has sessions, and says that it is an MPI of before. */
#if MPI_VERSION < 4 && !(defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(void) {
  printf("no sessions\n");
  return 0;
}
#else
#include "everyone.h"

static void use(MPI_Comm comm, const char* what) {
  int rank, size, right = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 8; ++i) {
    int one = i + 1, sum = -1, all[64];
    double big[20000], result[20000];
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right = right && sum == (rank + 1) * one;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % size, comm);
    right = right && (rank != i % size || sum == size * one);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    for (int r = 0; rank == 0 && r < size; ++r) right = right && all[r] == r;
    for (int k = 0; k < 20000; ++k) big[k] = rank + k;
    MPI_Reduce(big, result, 20000, MPI_DOUBLE, MPI_SUM, 0, comm);
    for (int k = 0; rank == 0 && k < 20000; ++k) {
      right = right && result[k] == size * (size - 1) / 2 + (double)k * size;
    }
    right = right && use_everyone(comm, 1 << i, i) == 0;
  }
  printf("%s %d of %d: %s\n", what, rank, size, right ? "right" : "WRONG");
}

static MPI_Session open_session(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS) exit(1);
  return session;
}

static MPI_Comm make_of(MPI_Session session, const char* ranks, const char* name) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, ranks, &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

static MPI_Comm make(MPI_Session session, const char* name) {
  return make_of(session, "mpi://WORLD", name);
}

static int use_one_before_the_world(int argc, char** argv) {
  MPI_Session session = open_session();
  MPI_Group group;
  int rank, value = 0;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &rank);
  MPI_Group_free(&group);
  MPI_Comm comm = make_of(session, "mpi://SELF", "one");
  if (rank == 0) MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  MPI_Init(&argc, &argv);
  use(MPI_COMM_WORLD, "the world");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "alone";
  if (strcmp(way, "one") == 0) return use_one_before_the_world(argc, argv);
  if (strcmp(way, "alone") == 0 || strcmp(way, "turns") == 0) {
    for (int turn = 0; turn < (way[0] == 'a' ? 1 : 3); ++turn) {
      MPI_Session session = open_session();
      MPI_Comm comm = make(session, "a"), copy;
      use(comm, "alone");
      MPI_Comm_dup(comm, &copy);
      use(copy, "a duplicate");
      MPI_Comm_free(&copy);
      MPI_Session other = open_session();
      MPI_Comm second = make(other, "b");
      use(second, "two at a time");
      MPI_Comm_free(&second);
      MPI_Session_finalize(&other);
      use(comm, "the first one still");
      MPI_Comm_free(&comm);
      MPI_Session_finalize(&session);
    }
    return 0;
  }
  MPI_Session session = open_session();
  MPI_Comm comm = make(session, "c");
  use(comm, "before the world");
  MPI_Init(&argc, &argv);
  use(MPI_COMM_WORLD, "the world");
  use(comm, "beside the world");
  if (strcmp(way, "both") == 0) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    use(MPI_COMM_WORLD, "the world alone");
    MPI_Finalize();
    return 0;
  }
  MPI_Finalize();
  use(comm, "after the world");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
}
#endif
