/* An ordinary MPI program that uses the four collectives in the ways that programs do and prints a
 * checksum of every result. It knows nothing of Sibyl: run_preload_tests.py compares what it prints
 * with and without the preload.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 4, count = 5 };

static int rank, size;

static void report(const char* what, int variant, const void* data, size_t bytes) {
  uint64_t hash = 1469598103934665603u; /* FNV-1a */
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  printf("%s %d rank %d of %d: %016llx\n", what, variant, rank, size, (unsigned long long)hash);
}

/* inout := in * inout for 2x2 integer matrices: the order of the operands matters. */
static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  int64_t *a = in, *b = inout;
  for (int i = 0; i < *length; ++i, a += 4, b += 4) {
    const int64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                          a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    for (int k = 0; k < 4; ++k) b[k] = c[k] % 10007;
  }
}

static void scans(MPI_Comm comm) {
  MPI_Datatype matrix;
  MPI_Op product;
  MPI_Type_contiguous(4, MPI_INT64_T, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  for (int round = 0; round < rounds; ++round) {
    int64_t send[4 * count], receive[4 * count];
    struct {
      int value, where;
    } pair[count], best[count];
    for (int i = 0; i < 4 * count; ++i) {
      send[i] = (rank + 2) * 37 + i * 11 + round;
      receive[i] = -i - round; /* rank 0's must stay as it is in an exclusive scan */
    }
    MPI_Exscan(send, receive, count, MPI_INT64_T, MPI_BXOR, comm);
    report("exscan", round, receive, sizeof receive);
    memcpy(receive, send, sizeof send);
    MPI_Exscan(MPI_IN_PLACE, receive, count, MPI_INT64_T, MPI_SUM, comm);
    report("exscan in place", round, receive, sizeof receive);
    MPI_Exscan(send, receive, count, matrix, product, comm);
    report("exscan matrices", round, receive, sizeof receive);
    MPI_Exscan(send, receive, 0, MPI_INT64_T, MPI_SUM, comm);
    report("exscan of nothing", round, receive, sizeof receive);

    MPI_Scan(send, receive, count, matrix, product, comm);
    report("scan matrices", round, receive, sizeof receive);
    memcpy(receive, send, sizeof send);
    MPI_Scan(MPI_IN_PLACE, receive, 4 * count, MPI_INT64_T, MPI_MAX, comm);
    report("scan in place", round, receive, sizeof receive);
    for (int i = 0; i < count; ++i) {
      pair[i].value = (rank * 7 + i * 3 + round) % 5;
      pair[i].where = rank;
    }
    MPI_Scan(pair, best, count, MPI_2INT, MPI_MAXLOC, comm);
    report("scan maxloc", round, best, sizeof best);
#if MPI_VERSION >= 4
    MPI_Exscan_c(send, receive, (MPI_Count)count, MPI_INT64_T, MPI_SUM, comm);
    report("exscan_c", round, receive, sizeof receive);
    MPI_Scan_c(send, receive, (MPI_Count)count, MPI_INT64_T, MPI_SUM, comm);
    report("scan_c", round, receive, sizeof receive);
#endif
  }
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
}

/* At the root beside and in place; what the others receive into must stay as it is. */
static void reduces(MPI_Comm comm) {
  int comm_rank, comm_size;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &comm_size);
  MPI_Datatype matrix;
  MPI_Op product;
  MPI_Type_contiguous(4, MPI_INT64_T, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  for (int round = 0; round < rounds; ++round) {
    for (int root = 0; root < comm_size; ++root) {
      int64_t send[4 * count], receive[4 * count];
      struct {
        int value, where;
      } pair[count], best[count];
      for (int i = 0; i < 4 * count; ++i) {
        send[i] = (comm_rank + 3) * 41 + i * 13 + round;
        receive[i] = -i - root;
      }
      MPI_Reduce(send, receive, count, matrix, product, root, comm);
      report("reduce matrices", root, receive, sizeof receive);
      memcpy(receive, send, sizeof send);
      const void* from = comm_rank == root ? MPI_IN_PLACE : (const void*)send;
      MPI_Reduce(from, receive, 4 * count, MPI_INT64_T, MPI_SUM, root, comm);
      report("reduce in place", root, receive, sizeof receive);
      for (int i = 0; i < count; ++i) {
        pair[i].value = (comm_rank * 5 + i * 3 + round) % 7;
        pair[i].where = comm_rank;
      }
      memset(best, 0x5a, sizeof best);
      MPI_Reduce(pair, comm_rank == root ? best : NULL, count, MPI_2INT, MPI_MINLOC, root, comm);
      report("reduce minloc", root, best, sizeof best);
#if MPI_VERSION >= 4
      MPI_Reduce_c(send, receive, (MPI_Count)count, MPI_INT64_T, MPI_BXOR, root, comm);
      report("reduce_c", root, receive, sizeof receive);
#endif
    }
  }
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
}

/* Rank r has 3 r + round ints, one rank has many and one none; in the root's buffer the blocks lie
 * in the order of the ranks, with a gap of two. */
static void irregular(MPI_Comm comm) {
  int comm_rank, comm_size;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &comm_size);
  int counts[64], places[64], own[4000];
#if MPI_VERSION >= 4
  MPI_Count large_counts[64];
  MPI_Aint large_places[64];
#endif
  for (int round = 0; round < rounds; ++round) {
    for (int root = 0; root < comm_size; ++root) {
      int total = 0;
      for (int r = 0; r < comm_size; ++r) {
        counts[r] = r == (root + 1) % comm_size   ? 2000
                    : r == (root + 2) % comm_size ? 0
                                                  : 3 * r + round;
        places[r] = total;
#if MPI_VERSION >= 4
        large_counts[r] = counts[r];
        large_places[r] = places[r];
#endif
        total += counts[r] + 2;
      }
      const size_t bytes = (size_t)total * sizeof(int);
      int* all = malloc(bytes);
      memset(all, 0x5a, bytes);
      const int is_root = comm_rank == root, mine = counts[comm_rank];
      for (int i = 0; i < 4000; ++i) own[i] = comm_rank * 10000 + i + round;
      MPI_Gatherv(own, mine, MPI_INT, is_root ? all : NULL, is_root ? counts : NULL,
                  is_root ? places : NULL, is_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
      if (is_root) report("gatherv", root, all, bytes);
      memset(own, 0x5a, sizeof own);
      MPI_Scatterv(is_root ? all : NULL, is_root ? counts : NULL, is_root ? places : NULL,
                   is_root ? MPI_INT : MPI_DATATYPE_NULL, own, mine, MPI_INT, root, comm);
      report("scatterv", root, own, sizeof own);
      if (is_root) {
        MPI_Scatterv(all, counts, places, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm);
        MPI_Gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, root, comm);
        report("gatherv in place", root, all, bytes);
      } else {
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, own, mine, MPI_INT, root, comm);
        MPI_Gatherv(own, mine, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, comm);
      }
#if MPI_VERSION >= 4
      memset(own, 0x5a, sizeof own);
      MPI_Scatterv_c(all, large_counts, large_places, MPI_INT, own, mine, MPI_INT, root, comm);
      report("scatterv_c", root, own, sizeof own);
      memset(all, 0x5a, bytes);
      MPI_Gatherv_c(own, mine, MPI_INT, all, large_counts, large_places, MPI_INT, root, comm);
      report("gatherv_c", root, all, bytes);
#endif
      free(all);
    }
  }
}

/* Blocks of the root lie every second int, so that neighbours would show a stray write. */
static void gather_scatter(MPI_Comm comm) {
  int comm_rank, comm_size;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &comm_size);
  MPI_Datatype strided, block;
  MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, 2 * count * (MPI_Aint)sizeof(int), &block);
  MPI_Type_commit(&block);
  const size_t bytes = (size_t)comm_size * 2 * count * sizeof(int);
  int* all = malloc(bytes);
  int own[count];
  for (int round = 0; round < rounds; ++round) {
    for (int root = 0; root < comm_size; ++root) {
      const int is_root = comm_rank == root;
      for (int i = 0; i < count; ++i) own[i] = comm_rank * 1000 + i * 10 + round + root;
      memset(all, 0x5a, bytes);
      if (is_root) {
        MPI_Gather(own, count, MPI_INT, all, 1, block, root, comm);
        report("gather strided", root, all, bytes);
        memset(all, 0x5a, bytes);
        memcpy(all + root * count, own, sizeof own);
        MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, count, MPI_INT, root, comm);
        report("gather in place", root, all, bytes);
        MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm);
        MPI_Scatter(all, 1, block, own, count, MPI_INT, root, comm);
      } else { /* the arguments that only the root's call uses are left empty */
        MPI_Gather(own, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm);
        MPI_Gather(own, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, own, count, MPI_INT, root, comm);
        report("scatter in place", root, own, sizeof own);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, own, count, MPI_INT, root, comm);
      }
      report("scatter strided", root, own, sizeof own);
#if MPI_VERSION >= 4
      MPI_Gather_c(own, count, MPI_INT, all, count, MPI_INT, root, comm);
      if (is_root) report("gather_c", root, all, bytes);
      MPI_Scatter_c(all, count, MPI_INT, own, count, MPI_INT, root, comm);
      report("scatter_c", root, own, sizeof own);
#endif
    }
  }
  free(all);
  MPI_Type_free(&block);
  MPI_Type_free(&strided);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  scans(MPI_COMM_WORLD);
  gather_scatter(MPI_COMM_WORLD);
  reduces(MPI_COMM_WORLD);
  irregular(MPI_COMM_WORLD);
  scans(MPI_COMM_SELF);
  for (int i = 0; i < 3; ++i) { /* communicators that come and go */
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, -rank, &part);
    scans(part);
    gather_scatter(part);
    reduces(part);
    irregular(part);
    MPI_Comm_free(&part);
  }
  MPI_Finalize();
  return 0;
}
