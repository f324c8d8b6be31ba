/* An iterative program that gathers its results with a persistent collective and tells Sibyl how
 * far its computation is: ranks that are predicted to be early are served first, in the background.
 *
 * Every rank computes as long as its share takes (rank r: 20 + 5 r ms), rank 0 checks what it has
 * gathered and prints one line.
 *
 *   mpicc -o gather gather.c $(pkg-config --cflags --libs sibyl) && mpiexec -n 4 ./gather
 */
#include <mpi.h>
#include <sibyl/sibyl.h>
#include <stdio.h>
#include <stdlib.h>

enum { elements = 20000, iterations = 10 };

static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

int main(int argc, char** argv) {
  int level, rank, size, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level); /* less works in the foreground */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* mine = malloc(elements * sizeof *mine);
  double* all = malloc((size_t)size * elements * sizeof *all);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sibyl_algorithm", "linear-synchronised");
  SIBYL_Request request;
  SIBYL_Gather_init(mine, elements, MPI_DOUBLE, all, elements, MPI_DOUBLE, 0, MPI_COMM_WORLD, info,
                    &request);
  MPI_Info_free(&info);

  for (int k = 0; k < iterations; ++k) {
    const double half = (20 + 5 * rank) * 1e-3 / 2;
    SIBYL_Start(&request); /* from now on `all` belongs to Sibyl */
    compute(half);
    SIBYL_Edge(&request, 0.5);
    compute(half);
    for (int i = 0; i < elements; ++i) mine[i] = rank + 1000.0 * k;
    SIBYL_Arrive(&request); /* and `mine` as well */
    SIBYL_Wait(&request);
    for (int r = 0; rank == 0 && r < size; ++r) {
      if (all[(size_t)r * elements + elements - 1] != r + 1000.0 * k) ++wrong;
    }
  }
  SIBYL_Request_free(&request);
  if (rank == 0) printf("%d iterations of %d ranks, %d wrong\n", iterations, size, wrong);
  free(mine);
  free(all);
  MPI_Finalize();
  return wrong != 0;
}
