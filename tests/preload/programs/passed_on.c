/* Collectives that Sibyl leaves to the MPI library and yet counts: MPI_Alltoallw three times, and
 * those of neighbours twice each on a Cartesian grid, a graph, and a graph of edges. Prints what
 * came. Arguments: none, or "large" for the functions with large counts.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 16, room = 256, each = 3 };
static int rank, size, from[room], to[room];

static void clear(void) { memset(to, 0x5a, sizeof to); }

static void show(const char* what) {
  unsigned sum = 1;
  for (int i = 0; i < room; ++i) sum = sum * 31 + (unsigned)to[i];
  printf("%d %s %u\n", rank, what, sum);
  clear();
}

#if MPI_VERSION >= 4
typedef MPI_Count Count;
#define LARGE(name, ...) name##_c(__VA_ARGS__)
#else
typedef int Count;
#define LARGE(name, ...) name(__VA_ARGS__)
#endif

static void alltoallw(int large) {
  int counts[most], places[most];
  Count large_counts[most];
  MPI_Aint large_places[most];
  MPI_Datatype types[most];
  for (int r = 0; r < size; ++r) {
    large_counts[r] = counts[r] = each;
    large_places[r] = places[r] = r * each * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  for (int call = 0; call < 3; ++call) {
#if MPI_VERSION >= 4
    if (large) {
      MPI_Alltoallw_c(from, large_counts, large_places, types, to, large_counts, large_places,
                      types, MPI_COMM_WORLD);
      show("alltoallw");
      continue;
    }
#endif
    MPI_Alltoallw(from, counts, places, types, to, counts, places, types, MPI_COMM_WORLD);
    show("alltoallw");
  }
}

static void neighbours(MPI_Comm comm, int large) {
  int counts[most], places[most];
  Count large_counts[most];
#if MPI_VERSION >= 4
  MPI_Aint large_places[most];
#else
  int large_places[most];
#endif
  MPI_Aint at[most];
  MPI_Datatype types[most];
  for (int i = 0; i < most; ++i) {
    large_counts[i] = counts[i] = each;
    large_places[i] = places[i] = each * i;
    at[i] = places[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  clear();
  for (int call = 0; call < 2; ++call) {
    if (large) {
      LARGE(MPI_Neighbor_allgather, from, each, MPI_INT, to, each, MPI_INT, comm);
      show("neighbor_allgather");
      LARGE(MPI_Neighbor_allgatherv, from, each, MPI_INT, to, large_counts, large_places, MPI_INT,
            comm);
      show("neighbor_allgatherv");
      LARGE(MPI_Neighbor_alltoall, from, each, MPI_INT, to, each, MPI_INT, comm);
      show("neighbor_alltoall");
      LARGE(MPI_Neighbor_alltoallv, from, large_counts, large_places, MPI_INT, to, large_counts,
            large_places, MPI_INT, comm);
      show("neighbor_alltoallv");
      LARGE(MPI_Neighbor_alltoallw, from, large_counts, at, types, to, large_counts, at, types,
            comm);
      show("neighbor_alltoallw");
    } else {
      MPI_Neighbor_allgather(from, each, MPI_INT, to, each, MPI_INT, comm);
      show("neighbor_allgather");
      MPI_Neighbor_allgatherv(from, each, MPI_INT, to, counts, places, MPI_INT, comm);
      show("neighbor_allgatherv");
      MPI_Neighbor_alltoall(from, each, MPI_INT, to, each, MPI_INT, comm);
      show("neighbor_alltoall");
      MPI_Neighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm);
      show("neighbor_alltoallv");
      MPI_Neighbor_alltoallw(from, counts, at, types, to, counts, at, types, comm);
      show("neighbor_alltoallw");
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most / 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int large = argc > 1 && strcmp(argv[1], "large") == 0;
  for (int i = 0; i < room; ++i) from[i] = 1000 * rank + i;
  clear();
  alltoallw(large);

  MPI_Comm comm;
  int periodic = 1, index[most], edges[2 * most];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
  neighbours(comm, large);
  MPI_Comm_free(&comm);
  for (int r = 0; r < size; ++r) { /* the same ring */
    edges[2 * r] = (r + size - 1) % size;
    edges[2 * r + 1] = (r + 1) % size;
    index[r] = 2 * r + 2;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  neighbours(comm, large);
  MPI_Comm_free(&comm);
  const int before = (rank + size - 1) % size, behind = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &behind,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  neighbours(comm, large);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
