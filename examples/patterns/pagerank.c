/* PageRank of a web-like graph, to record arrivals from: the ranks own equally many pages, but
 * pages have very different numbers of links, so that some ranks always come late to the gather.
 *
 * Power iteration: every rank computes the new weights of its pages, rank 0 gathers and normalises
 * them and sends them back. The graph is drawn from a fixed seed: page i has about
 * average * n / (2 i + n / 10) links, the first ones most. Prints the sum and the change of the
 * weights, so that a run can be compared with another.
 *
 *   mpicc -O2 -o pagerank pagerank.c -lm && sibyl run -n 8 --record pagerank-8.json -- ./pagerank
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long state;

static unsigned long long draw(void) { /* SplitMix64 */
  unsigned long long x = state += 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int own = (argc > 1 ? atoi(argv[1]) : 200000) / ranks;
  const int iterations = argc > 2 ? atoi(argv[2]) : 40;
  const long pages = (long)own * ranks, first = (long)own * rank;
  const double average = 12, damping = 0.85;

  /* The pages that link to each of ours. */
  long* begin = malloc((own + 1) * sizeof *begin);
  begin[0] = 0;
  for (int i = 0; i < own; ++i) {
    begin[i + 1] = begin[i] + 1 + (long)(average * pages / (2.0 * (first + i) + pages / 10.0));
  }
  int* from = malloc(begin[own] * sizeof *from);
  state = 17 + rank;
  for (long k = 0; k < begin[own]; ++k) from[k] = (int)(draw() % pages);

  double* weight = malloc(pages * sizeof *weight);
  double* mine = malloc(own * sizeof *mine);
  for (long i = 0; i < pages; ++i) weight[i] = 1.0 / pages;
  double change = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 0; i < own; ++i) {
      double sum = 0;
      for (long k = begin[i]; k < begin[i + 1]; ++k) sum += weight[from[k]];
      mine[i] = (1 - damping) / pages + damping * sum / average;
    }
    const double before = weight[0];
    MPI_Gather(mine, own, MPI_DOUBLE, weight, own, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      double total = 0;
      for (long i = 0; i < pages; ++i) total += weight[i];
      for (long i = 0; i < pages; ++i) weight[i] /= total;
      change = fabs(weight[0] - before);
    }
    MPI_Bcast(weight, (int)pages, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    double total = 0;
    for (long i = 0; i < pages; ++i) total += weight[i];
    printf("%ld pages, sum %.9f, first page %.9f, last change %.3g\n", pages, total, weight[0],
           change);
  }
  free(begin);
  free(from);
  free(weight);
  free(mine);
  MPI_Finalize();
  return 0;
}
