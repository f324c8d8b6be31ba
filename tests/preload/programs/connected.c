/* Groups of ranks that MPI_Comm_connect joins: the halves of a world, or with the argument "worlds"
 * a world and two processes that it has started and let go. Collectives between the groups, on the
 * merged communicator, and on their worlds after all.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "everyone.h"

enum { children = 2, rounds = 5, tag = 3 };

static int wrong;

static void expect(int right) { wrong += !right; }

/* One side has two kinds of roots; the other one says where its rank is. */
static void use_between(MPI_Comm inter, int gives) {
  int rank, others, all[everyone_ranks], own[everyone_ranks];
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &others);
  const int root = !gives ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (int round = 0; round < rounds; ++round) {
    int one = round + rank, sum = -1, word = gives ? 70 + round : -1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    expect(sum == others * round + others * (others - 1) / 2);
    MPI_Bcast(&word, 1, MPI_INT, root, inter);
    expect(word == 70 + round);
    MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int r = 0; r < others; ++r) expect(all[r] == round + r);
    for (int r = 0; r < others; ++r) own[r] = 10 * rank + r;
    MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int r = 0; r < others; ++r) expect(all[r] == 10 * r + rank);
    MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, inter);
    for (int r = 0; root == MPI_ROOT && r < others; ++r) expect(all[r] == round + r);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_MAX, root, inter);
    expect(root != MPI_ROOT || sum == round + others - 1);
    MPI_Barrier(inter);
  }
}

static void use_all(MPI_Comm comm) {
  int rank, one = 1, sum = -1;
  MPI_Comm_rank(comm, &rank);
  for (int round = 0; round < rounds; ++round) {
    wrong += use_everyone(comm, 20, round);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == rank + 1);
  }
}

/* Of the groups, who accepts tells the other one's first rank the port through `between`. */
static MPI_Comm join(MPI_Comm own, int accepts, MPI_Comm between, int other) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm inter;
  MPI_Comm_rank(own, &rank);
  if (accepts) {
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 0) MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, other, tag, between);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &inter);
    if (rank == 0) MPI_Close_port(port);
  } else {
    if (rank == 0) {
      MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, other, tag, between, MPI_STATUS_IGNORE);
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &inter);
  }
  return inter;
}

/* What was wrong at any rank of both groups. */
static int use_joined(MPI_Comm inter, int accepts) {
  MPI_Comm merged, copy;
  int all = 0;
  use_between(inter, accepts);
  MPI_Intercomm_merge(inter, accepts, &merged);
  use_all(merged);
  MPI_Comm_dup(merged, &copy);
  use_all(copy);
  MPI_Comm_free(&copy);
  use_between(inter, !accepts);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  return all;
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  int rank, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL || (argc > 1 && strcmp(argv[1], "worlds") == 0)) {
    const int child = parent != MPI_COMM_NULL;
    if (!child) {
      MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent,
                     MPI_ERRCODES_IGNORE);
    }
    inter = join(MPI_COMM_WORLD, !child, parent, 0);
    MPI_Comm_disconnect(&parent);
    all = use_joined(inter, !child);
    if (!child) printf("%d of a world: %s\n", rank, all == 0 ? "right" : "WRONG");
  } else {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    inter = join(half, rank % 2 == 0, MPI_COMM_WORLD, 1 - rank % 2);
    all = use_joined(inter, rank % 2 == 0);
    printf("%d of halves: %s\n", rank, all == 0 ? "right" : "WRONG");
    MPI_Comm_free(&half);
  }
  use_all(MPI_COMM_WORLD);
  if (wrong != 0) printf("WRONG\n");
  MPI_Finalize();
  return 0;
}
