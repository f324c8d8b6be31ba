/* Calls one collective after the other, of short and of long vectors, until it is killed, for a
 * minute at most; with a second argument the one of that number alone. Each rank leaves a file
 * DIRECTORY/RANK that holds its process when it has begun.
 *
 *   endless DIRECTORY [NUMBER] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { longest = 1 << 16, most_ranks = 16 };

static int send[longest * most_ranks], receive[longest * most_ranks], equal[most_ranks];

enum { collectives = 16 };

static void collective(int number, int count, int root, const int* counts, const int* begins) {
  int rank = 0;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  switch (number) {
    case 0:
      MPI_Barrier(world);
      break;
    case 1:
      MPI_Bcast(send, count, MPI_INT, root, world);
      break;
    case 2:
      MPI_Reduce(send, receive, count, MPI_INT, MPI_SUM, root, world);
      break;
    case 3:
      MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, world);
      break;
    case 4:
      MPI_Scan(send, receive, count, MPI_INT, MPI_SUM, world);
      break;
    case 5:
      MPI_Exscan(send, receive, count, MPI_INT, MPI_SUM, world);
      break;
    case 6:
      MPI_Reduce_scatter_block(send, receive, count, MPI_INT, MPI_SUM, world);
      break;
    case 7:
      MPI_Allgather(send, count, MPI_INT, receive, count, MPI_INT, world);
      break;
    case 8:
      MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, world);
      break;
    case 9:
      MPI_Gather(send, count, MPI_INT, receive, count, MPI_INT, root, world);
      break;
    case 10:
      MPI_Scatter(send, count, MPI_INT, receive, count, MPI_INT, root, world);
      break;
    case 11:
      MPI_Gatherv(send, counts[rank], MPI_INT, receive, counts, begins, MPI_INT, root, world);
      break;
    case 12:
      MPI_Scatterv(send, counts, begins, MPI_INT, receive, counts[rank], MPI_INT, root, world);
      break;
    case 13:
      MPI_Allgatherv(send, counts[rank], MPI_INT, receive, counts, begins, MPI_INT, world);
      break;
    case 14:
      MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, world);
      break;
    case 15:
      for (int r = 0; r < most_ranks; ++r) equal[r] = count;
      MPI_Alltoallv(send, equal, begins, MPI_INT, receive, equal, begins, MPI_INT, world);
      break;
    default:
      MPI_Abort(world, 2);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  const int only = argc > 2 ? atoi(argv[2]) : -1;
  int counts[most_ranks], begins[most_ranks];
  const double end = MPI_Wtime() + 60;
  for (int call = 0; MPI_Wtime() < end; ++call) {
    const int count = call % 2 == 0 ? longest : 16;
    const int root = call % ranks;
    for (int r = 0; r < ranks; ++r) {
      counts[r] = count / (r + 1);
      begins[r] = r * longest;
    }
    for (int number = 0; number < collectives; ++number) {
      if (only < 0 || only == number) collective(number, count, root, counts, begins);
    }
    if (call == 1) {
      char name[4096];
      snprintf(name, sizeof name, "%s/%d", argv[1], rank);
      FILE* file = fopen(name, "w");
      if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
      fprintf(file, "%d\n", (int)getpid());
      if (fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  MPI_Finalize();
  return 0;
}
