/* The same program as gather.c under the names of the iterative model's paper (sibyl/pat.h): the
 * collective is called as usual, between the turns Sibyl is told how far the computation is.
 *
 * Every rank computes as long as its share takes (rank r: 20 + 5 r ms), rank 0 checks what it has
 * gathered and prints one line.
 *
 *   mpicc -o pat_gather pat_gather.c $(pkg-config --cflags --libs sibyl)
 *   mpiexec -n 4 ./pat_gather
 */
#include <mpi.h>
#include <sibyl/pat.h>
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

  PAT_Init();
  PAT_UseAlg(PAT_Gather_BSLS);
  for (int k = 0; k < iterations; ++k) {
    const double half = (20 + 5 * rank) * 1e-3 / 2;
    PAT_ProcessingStart();
    compute(half);
    PAT_Edge(0.5);
    compute(half);
    for (int i = 0; i < elements; ++i) mine[i] = rank + 1000.0 * k;
    PAT_ProcessingEnd();
    PAT_Gather_BSLS(mine, elements, MPI_DOUBLE, all, elements, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; ++r) {
      if (all[(size_t)r * elements + elements - 1] != r + 1000.0 * k) ++wrong;
    }
  }
  PAT_Finalize();
  if (rank == 0) printf("%d iterations of %d ranks, %d wrong\n", iterations, size, wrong);
  free(mine);
  free(all);
  MPI_Finalize();
  return wrong != 0;
}
