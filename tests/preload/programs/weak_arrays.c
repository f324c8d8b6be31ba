/* Large-count functions with arrays of counts, used where they are there, as mpi4py does: weak
 * references. Under the preload they are always there, also with an MPI that has none; then the
 * arrays must come to the MPI library as ints, for as many ranks as the call has: all, those of the
 * other group, the own group, neighbours. A number that does not fit is an error. Knows nothing
 * else of Sibyl.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION < 4
int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                  MPI_Datatype, int, MPI_Comm);
int MPI_Allgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                     MPI_Datatype, MPI_Comm);
int MPI_Alltoallv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,
                    const MPI_Count*, const MPI_Aint*, MPI_Datatype, MPI_Comm);
int MPI_Reduce_scatter_c(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Alltoallw_c(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Datatype*, void*,
                    const MPI_Count*, const MPI_Aint*, const MPI_Datatype*, MPI_Comm);
int MPI_Neighbor_allgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*,
                              const MPI_Aint*, MPI_Datatype, MPI_Comm);
int MPI_Neighbor_alltoallv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,
                             const MPI_Count*, const MPI_Aint*, MPI_Datatype, MPI_Comm);
int MPI_Neighbor_alltoallw_c(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Datatype*,
                             void*, const MPI_Count*, const MPI_Aint*, const MPI_Datatype*,
                             MPI_Comm);
#endif
#pragma weak MPI_Gatherv_c
#pragma weak MPI_Allgatherv_c
#pragma weak MPI_Alltoallv_c
#pragma weak MPI_Reduce_scatter_c
#pragma weak MPI_Alltoallw_c
#pragma weak MPI_Neighbor_allgatherv_c
#pragma weak MPI_Neighbor_alltoallv_c
#pragma weak MPI_Neighbor_alltoallw_c

enum { most = 16, room = 256 };
static int rank; /* of the world */
static int from[room], to[room];
/* Behind the entries that a call has stands what does not fit into an int: it must not be read. */
static int counts[most], places[most], bytes_at[most];
static MPI_Count large_counts[most];
static MPI_Aint large_places[most], large_bytes_at[most];
static MPI_Datatype types[most];

static void arrays(int entries, int each) {
  for (int i = 0; i < most; ++i) {
    counts[i] = each;
    places[i] = (each + 1) * i;
    bytes_at[i] = places[i] * (int)sizeof(int);
    types[i] = MPI_INT;
    large_counts[i] = i < entries ? counts[i] : (MPI_Count)1 << 40;
    large_places[i] = i < entries ? places[i] : (MPI_Aint)1 << 40;
    large_bytes_at[i] = i < entries ? bytes_at[i] : (MPI_Aint)1 << 40;
  }
  for (int i = 0; i < room; ++i) from[i] = 1000 * rank + i;
  memset(to, 0x5a, sizeof to);
}

static void show(const char* comm, const char* what, int error) {
  long long sum = error;
  for (int i = 0; i < room; ++i) sum = (sum * 31 + to[i]) % 1000000007;
  printf("%d %s %s: %lld\n", rank, comm, what, sum);
}

static int all_to_all(MPI_Comm comm) {
  if (MPI_Alltoallv_c != NULL) {
    return MPI_Alltoallv_c(from, large_counts, large_places, MPI_INT, to, large_counts,
                           large_places, MPI_INT, comm);
  }
  return MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm);
}

static void between_all(const char* name, MPI_Comm comm, int others, int own) {
  int error;
  for (int call = 0; call < 4; ++call) {
    arrays(others, 3);
    if (MPI_Allgatherv_c != NULL) {
      error = MPI_Allgatherv_c(from, 3, MPI_INT, to, large_counts, large_places, MPI_INT, comm);
    } else {
      error = MPI_Allgatherv(from, 3, MPI_INT, to, counts, places, MPI_INT, comm);
    }
    show(name, "allgatherv", error);
    arrays(others, 2);
    show(name, "alltoallv", all_to_all(comm));
    arrays(others, 2);
    if (MPI_Alltoallw_c != NULL) {
      error = MPI_Alltoallw_c(from, large_counts, large_bytes_at, types, to, large_counts,
                              large_bytes_at, types, comm);
    } else {
      error = MPI_Alltoallw(from, counts, bytes_at, types, to, counts, bytes_at, types, comm);
    }
    show(name, "alltoallw", error);
    arrays(own, 12 / own); /* as many elements in both groups */
    if (MPI_Reduce_scatter_c != NULL) {
      error = MPI_Reduce_scatter_c(from, to, large_counts, MPI_INT, MPI_SUM, comm);
    } else {
      error = MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    }
    show(name, "reduce_scatter", error);
  }
}

static void to_root(const char* name, MPI_Comm comm, int root, int at_root, int others) {
  for (int call = 0; call < 4; ++call) {
    int error;
    arrays(at_root ? others : 0, 3);
    if (MPI_Gatherv_c != NULL) {
      error = MPI_Gatherv_c(from, 3, MPI_INT, to, large_counts, large_places, MPI_INT, root, comm);
    } else {
      error = MPI_Gatherv(from, 3, MPI_INT, to, counts, places, MPI_INT, root, comm);
    }
    show(name, "gatherv", error);
  }
}

static void in_place(MPI_Comm comm, int size) {
  int error;
  arrays(size, 3);
  if (MPI_Alltoallv_c != NULL) {
    error = MPI_Alltoallv_c(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, large_counts,
                            large_places, MPI_INT, comm);
  } else {
    error = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, counts, places, MPI_INT,
                          comm);
  }
  show("world", "alltoallv in place", error);
}

static void neighbours(const char* name, MPI_Comm comm, int sources, int destinations) {
  MPI_Aint at[most];
  int error;
  arrays(sources, 3);
  if (MPI_Neighbor_allgatherv_c != NULL) {
    error =
        MPI_Neighbor_allgatherv_c(from, 3, MPI_INT, to, large_counts, large_places, MPI_INT, comm);
  } else {
    error = MPI_Neighbor_allgatherv(from, 3, MPI_INT, to, counts, places, MPI_INT, comm);
  }
  show(name, "neighbor_allgatherv", error);
  arrays(destinations, 2);
  MPI_Count in[most];
  MPI_Aint in_places[most];
  for (int i = 0; i < most; ++i) {
    in[i] = i < sources ? counts[i] : (MPI_Count)1 << 40;
    in_places[i] = i < sources ? places[i] : (MPI_Aint)1 << 40;
    at[i] = bytes_at[i];
  }
  if (MPI_Neighbor_alltoallv_c != NULL) {
    error = MPI_Neighbor_alltoallv_c(from, large_counts, large_places, MPI_INT, to, in, in_places,
                                     MPI_INT, comm);
  } else {
    error =
        MPI_Neighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm);
  }
  show(name, "neighbor_alltoallv", error);
  memset(to, 0x5a, sizeof to);
  if (MPI_Neighbor_alltoallw_c != NULL) {
    error = MPI_Neighbor_alltoallw_c(from, large_counts, at, types, to, in, at, types, comm);
  } else {
    error = MPI_Neighbor_alltoallw(from, counts, at, types, to, counts, at, types, comm);
  }
  show(name, "neighbor_alltoallw", error);
}

static void topologies(int size) {
  int dimension = size, periodic = 0, edges = 0, index[most], edge[2 * most];
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &comm);
  neighbours("cartesian", comm, 2, 2);
  MPI_Comm_free(&comm);
  for (int r = 0; r < size; ++r) { /* a star */
    for (int other = 0; other < size; ++other) {
      if (other != r && (r == 0 || other == 0)) edge[edges++] = other;
    }
    index[r] = edges;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edge, 0, &comm);
  neighbours("graph", comm, rank == 0 ? size - 1 : 1, rank == 0 ? size - 1 : 1);
  MPI_Comm_free(&comm);
  int sources[most], destinations[most], in = 0, out = 0; /* everybody sends to who is above */
  for (int r = 0; r < rank; ++r) sources[in++] = r;
  for (int r = rank + 1; r < size; ++r) destinations[out++] = r;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  neighbours("edges", comm, in, out);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int size, error = MPI_ERR_COUNT, class = 0;
  MPI_Comm half, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 3 || size > most) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  between_all("world", MPI_COMM_WORLD, size, size);
  to_root("world", MPI_COMM_WORLD, 1, rank == 1, size);
  in_place(MPI_COMM_WORLD, size);

  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  const int even = (size + 1) / 2, odd = size / 2, is_odd = rank % 2;
  between_all("between", between, is_odd ? even : odd, is_odd ? odd : even);
  const int root = is_odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  to_root("between", between, root, rank == 0, odd);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  topologies(size);

#if MPI_VERSION < 4
  if (MPI_Alltoallv_c != NULL) {
    arrays(size, 1);
    large_counts[size - 1] = ((MPI_Count)1 << 32) + 1; /* as an int it would be 1 */
    error = all_to_all(MPI_COMM_WORLD);
  }
#endif
  MPI_Error_class(error, &class);
  printf("%d: %s\n", rank, class == MPI_ERR_COUNT ? "refused" : "not refused");
  MPI_Finalize();
  return 0;
}
