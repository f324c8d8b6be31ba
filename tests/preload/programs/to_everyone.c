/* An ordinary MPI program with the collectives in which every rank gets a result - allreduce,
 * broadcast, reduce-scatter, allgather, all-to-all, barrier - in the ways that programs use them;
 * it prints a checksum of every result. It knows nothing of Sibyl: run_preload_tests.py compares
 * what it prints with and without the preload.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 4, count = 5, most = 16, room = 4096 };

static int world_rank, rank, size;
static int from[room], to[room];

static void report(const char* what, int variant, const void* data, size_t bytes) {
  uint64_t hash = 1469598103934665603u; /* FNV-1a */
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  printf("%s %d rank %d is %d of %d: %016llx\n", what, variant, world_rank, rank, size,
         (unsigned long long)hash);
}

static void fill(int seed) {
  for (int i = 0; i < room; ++i) from[i] = rank * 7919 + i * 13 + seed;
  memset(to, 0x5a, sizeof to);
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

static void reductions(MPI_Comm comm) {
  MPI_Datatype matrix;
  MPI_Op product;
  MPI_Type_contiguous(4, MPI_INT64_T, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  int counts[most];
  int64_t operands[4 * count * most], result[4 * count * most];
  for (int round = 0; round < rounds; ++round) {
    fill(round);
    MPI_Allreduce(from, to, 100, MPI_INT, MPI_SUM, comm);
    report("allreduce", round, to, sizeof to);
    memcpy(to, from, sizeof to);
    MPI_Allreduce(MPI_IN_PLACE, to, 100, MPI_INT, MPI_BXOR, comm);
    report("allreduce in place", round, to, sizeof to);
    MPI_Allreduce(from, to, count, MPI_2INT, MPI_MAXLOC, comm);
    report("allreduce maxloc", round, to, sizeof to);
    MPI_Allreduce(from, to, 0, MPI_INT, MPI_SUM, comm);
    report("allreduce of nothing", round, to, sizeof to);
    for (int i = 0; i < 4 * count * size; ++i) operands[i] = (rank + 2) * 37 + i * 11 + round;
    memset(result, 0x5a, sizeof result);
    MPI_Allreduce(operands, result, count, matrix, product, comm);
    report("allreduce matrices", round, result, sizeof result);

    memset(to, 0x5a, sizeof to);
    MPI_Reduce_scatter_block(from, to, 9, MPI_INT, MPI_SUM, comm);
    report("reduce_scatter_block", round, to, sizeof to);
    memset(result, 0x5a, sizeof result);
    MPI_Reduce_scatter_block(operands, result, count, matrix, product, comm);
    report("reduce_scatter_block matrices", round, result, sizeof result);
    memcpy(to, from, sizeof to); /* behind the result it is not said what is in place */
    MPI_Reduce_scatter_block(MPI_IN_PLACE, to, 9, MPI_INT, MPI_MAX, comm);
    report("reduce_scatter_block in place", round, to, 9 * sizeof(int));

    for (int r = 0; r < size; ++r) counts[r] = (r * 5 + round) % 7; /* some have none */
    memset(to, 0x5a, sizeof to);
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    report("reduce_scatter", round, to, sizeof to);
    memcpy(to, from, sizeof to);
    MPI_Reduce_scatter(MPI_IN_PLACE, to, counts, MPI_INT, MPI_MIN, comm);
    report("reduce_scatter in place", round, to, (size_t)counts[rank] * sizeof(int));
#if MPI_VERSION >= 4
    MPI_Count large[most];
    for (int r = 0; r < size; ++r) large[r] = counts[r];
    fill(round);
    MPI_Allreduce_c(from, to, 100, MPI_INT, MPI_SUM, comm);
    report("allreduce_c", round, to, sizeof to);
    MPI_Reduce_scatter_block_c(from, to, 9, MPI_INT, MPI_SUM, comm);
    report("reduce_scatter_block_c", round, to, sizeof to);
    MPI_Reduce_scatter_c(from, to, large, MPI_INT, MPI_SUM, comm);
    report("reduce_scatter_c", round, to, sizeof to);
#endif
  }
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
}

/* Every second int at the root, so that neighbours would show a stray write. */
static void broadcasts(MPI_Comm comm) {
  MPI_Datatype strided;
  MPI_Type_vector(50, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int round = 0; round < rounds; ++round) {
    for (int root = 0; root < size; ++root) {
      fill(round);
      MPI_Bcast(from, 1000, MPI_INT, root, comm);
      report("bcast", root, from, sizeof from);
      fill(round + 1);
      if (rank == root) {
        MPI_Bcast(from, 1, strided, root, comm);
      } else {
        MPI_Bcast(from, 50, MPI_INT, root, comm);
      }
      report("bcast of strided", root, from, sizeof from);
      MPI_Bcast(NULL, 0, MPI_INT, root, comm);
#if MPI_VERSION >= 4
      fill(round + 2);
      MPI_Bcast_c(from, 1000, MPI_INT, root, comm);
      report("bcast_c", root, from, sizeof from);
#endif
    }
    MPI_Barrier(comm);
  }
  MPI_Type_free(&strided);
}

/* Blocks lie in the receive buffer in the opposite order, with gaps. */
static void allgathers(MPI_Comm comm) {
  int counts[most], places[most];
  MPI_Datatype strided, block;
  MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, 2 * count * (MPI_Aint)sizeof(int), &block);
  MPI_Type_commit(&block);
  for (int round = 0; round < rounds; ++round) {
    fill(round);
    MPI_Allgather(from, count, MPI_INT, to, 1, block, comm);
    report("allgather strided", round, to, sizeof to);
    for (int i = 0; i < count; ++i) to[rank * count + i] = from[i];
    MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, to, count, MPI_INT, comm);
    report("allgather in place", round, to, sizeof to);
    for (int r = 0; r < size; ++r) {
      counts[r] = (r * 5 + round) % 7;
      places[r] = 9 * (size - 1 - r);
    }
    memset(to, 0x5a, sizeof to);
    MPI_Allgatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, comm);
    report("allgatherv", round, to, sizeof to);
    for (int i = 0; i < counts[rank]; ++i) to[places[rank] + i] = from[i] * 3;
    MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, to, counts, places, MPI_INT, comm);
    report("allgatherv in place", round, to, sizeof to);
#if MPI_VERSION >= 4
    MPI_Count large[most];
    MPI_Aint large_places[most];
    for (int r = 0; r < size; ++r) large[r] = counts[r], large_places[r] = places[r];
    memset(to, 0x5a, sizeof to);
    MPI_Allgather_c(from, count, MPI_INT, to, count, MPI_INT, comm);
    report("allgather_c", round, to, sizeof to);
    MPI_Allgatherv_c(from, counts[rank], MPI_INT, to, large, large_places, MPI_INT, comm);
    report("allgatherv_c", round, to, sizeof to);
#endif
  }
  MPI_Type_free(&block);
  MPI_Type_free(&strided);
}

/* How many ints go from one rank to another, in place as many as come back. */
static int sent(int a, int b, int round) { return (a * 3 + b * 5 + round) % 6; }
static int exchanged(int a, int b, int round) { return (a * b + a + b + round) % 6; }

static void exchanges(MPI_Comm comm) {
  int out[most], in[most], out_places[most], in_places[most];
  for (int round = 0; round < rounds; ++round) {
    fill(round);
    MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
    report("alltoall", round, to, sizeof to);
    memcpy(to, from, sizeof to);
    MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, to, count, MPI_INT, comm);
    report("alltoall in place", round, to, sizeof to);
    for (int r = 0; r < size; ++r) {
      out[r] = sent(rank, r, round);
      in[r] = sent(r, rank, round);
      out_places[r] = 7 * r;
      in_places[r] = 8 * (size - 1 - r);
    }
    memset(to, 0x5a, sizeof to);
    MPI_Alltoallv(from, out, out_places, MPI_INT, to, in, in_places, MPI_INT, comm);
    report("alltoallv", round, to, sizeof to);
#if MPI_VERSION >= 4
    MPI_Count large_out[most], large_in[most];
    MPI_Aint large_out_places[most], large_in_places[most];
    for (int r = 0; r < size; ++r) {
      large_out[r] = out[r], large_out_places[r] = out_places[r];
      large_in[r] = in[r], large_in_places[r] = in_places[r];
    }
    memset(to, 0x5a, sizeof to);
    MPI_Alltoall_c(from, count, MPI_INT, to, count, MPI_INT, comm);
    report("alltoall_c", round, to, sizeof to);
    MPI_Alltoallv_c(from, large_out, large_out_places, MPI_INT, to, large_in, large_in_places,
                    MPI_INT, comm);
    report("alltoallv_c", round, to, sizeof to);
#endif
    for (int r = 0; r < size; ++r) in[r] = exchanged(rank, r, round);
    memcpy(to, from, sizeof to);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, in, in_places, MPI_INT, comm);
    report("alltoallv in place", round, to, sizeof to);
  }
}

static void everything(MPI_Comm comm) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size > most) MPI_Abort(comm, 2);
  reductions(comm);
  broadcasts(comm);
  allgathers(comm);
  exchanges(comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  everything(MPI_COMM_WORLD);
  everything(MPI_COMM_SELF);
  for (int i = 0; i < 3; ++i) { /* communicators that come and go */
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, (world_rank + i) % 2, -world_rank, &part);
    everything(part);
    MPI_Comm_free(&part);
  }
  MPI_Finalize();
  return 0;
}
