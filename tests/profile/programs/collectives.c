/* Every blocking collective once and a barrier twice, with sizes that tell them apart; rank LATE
 * comes to every call of `late_reduce` 20 ms after the others. Lines that tests name end in a
 * comment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most = 64 };
static int rank, size;
static int ones[most], twos[most], places[most], places2[most];
static MPI_Datatype ints[most];
static int send[4096], receive[4096];

static void late_reduce(int late) {
  const struct timespec pause = {0, 20000000};
  for (int call = 0; call < 5; ++call) {
    if (rank == late) nanosleep(&pause, NULL);
    MPI_Reduce(send, receive, 100, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* late reduce */
  }
}

static void blocks(int root) {
  MPI_Gather(send, 3, MPI_INT, receive, 3, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Gather(rank == root ? MPI_IN_PLACE : send, 5, MPI_INT, receive, 5, MPI_INT, root,
             MPI_COMM_WORLD);
  MPI_Gatherv(send, 2, MPI_INT, receive, twos, places2, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Scatter(send, 4, MPI_INT, receive, 4, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Scatterv(send, twos, places2, MPI_INT, receive, 2, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allgather(send, 6, MPI_INT, receive, 6, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, 7, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(send, 1, MPI_INT, receive, ones, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(send, 8, MPI_INT, receive, 8, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(send, twos, places2, MPI_INT, receive, twos, places2, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallw(send, ones, places, ints, receive, ones, places, ints, MPI_COMM_WORLD);
}

static void reductions(int root) {
  MPI_Bcast(send, 9, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allreduce(send, receive, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(send, receive, 11, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(send, receive, 12, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(send, receive, twos, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(send, receive, 13, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void neighbours(void) {
  int periods = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
  MPI_Aint displacements[2] = {0, sizeof(int)};
  MPI_Neighbor_allgather(send, 14, MPI_INT, receive, 14, MPI_INT, ring);
  MPI_Neighbor_allgatherv(send, 2, MPI_INT, receive, twos, places2, MPI_INT, ring);
  MPI_Neighbor_alltoall(send, 15, MPI_INT, receive, 15, MPI_INT, ring);
  MPI_Neighbor_alltoallv(send, ones, places, MPI_INT, receive, ones, places, MPI_INT, ring);
  MPI_Neighbor_alltoallw(send, ones, displacements, ints, receive, ones, displacements, ints, ring);
  MPI_Comm_free(&ring);
}

static void messages(void) {
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  MPI_Message message;
  int flag;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Isend(send, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(receive, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Sendrecv(send, 1, MPI_INT, right, 2, receive, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &status);
  MPI_Sendrecv_replace(send, 1, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD, &status);
  MPI_Irecv(receive, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(send, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Isend(send, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Probe(left, 5, MPI_COMM_WORLD, &status);
  MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(receive, 1, MPI_INT, &message, &status);
  MPI_Waitany(1, requests, &flag, &status);
  MPI_Isend(send, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[0]);
  int indices[1];
  MPI_Waitsome(1, requests, &flag, indices, statuses);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < most; ++i) {
    ones[i] = 1, twos[i] = 2, places[i] = i, places2[i] = 2 * i, ints[i] = MPI_INT;
  }
  MPI_Barrier(MPI_COMM_WORLD); /* first barrier */
  MPI_Barrier(MPI_COMM_WORLD); /* second barrier */
  late_reduce(argc > 1 ? atoi(argv[1]) : size - 1);
  for (int root = 0; root < size; ++root) blocks(root);
  for (int root = 0; root < size; ++root) reductions(root);
  for (int i = 0; i < most; ++i) places[i] *= (int)sizeof(int);
  neighbours();
  messages();
  if (rank == 0) printf("done\n");
  return MPI_Finalize();
}
