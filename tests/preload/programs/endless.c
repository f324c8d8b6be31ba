/* Calls one collective after the other, of short and of long vectors, until it is killed, for a
 * minute at most. Each rank leaves a file DIRECTORY/RANK that holds its process when it has begun.
 *
 *   endless DIRECTORY */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { longest = 1 << 16, most_ranks = 16 };

static int send[longest * most_ranks], receive[longest * most_ranks];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  int counts[most_ranks], begins[most_ranks];
  const double end = MPI_Wtime() + 60;
  for (int call = 0; MPI_Wtime() < end; ++call) {
    const int count = call % 2 == 0 ? longest : 16;
    const int root = call % ranks;
    for (int r = 0; r < ranks; ++r) {
      counts[r] = count / (r + 1);
      begins[r] = r * longest;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(send, count, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Reduce(send, receive, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(send, count, MPI_INT, receive, count, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, MPI_COMM_WORLD);
    MPI_Gather(send, count, MPI_INT, receive, count, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Scatter(send, count, MPI_INT, receive, count, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Gatherv(send, counts[rank], MPI_INT, receive, counts, begins, MPI_INT, root,
                MPI_COMM_WORLD);
    MPI_Scatterv(send, counts, begins, MPI_INT, receive, counts[rank], MPI_INT, root,
                 MPI_COMM_WORLD);
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
