/* Calls that the MPI library has whenever they come again, among others that differ in one
 * argument.
 *
 * Each kind of call is made until it is known to the shim, then once with every argument changed,
 * and again as before; all results are looked at. A communicator is freed while calls on it are
 * known, and one made in its place. Beside known_tool.c, which says from where it is called: known
 * calls come from the program itself, all others through Sibyl.
 *
 * known [handlers] KIND...   the kinds of calls, as the table below names them; prints "known KIND
 * N of M" for each. With `handlers` a communicator has an error handler of the program's once calls
 * on it are known, and what follows is told of.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { often = 20, most = 64 };
static int rank, ranks;
static int own[most * most], all[most * most], counts[most], places[most];

static void check(int right, const char* what) {
  if (right) return;
  printf("rank %d: wrong %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(void) {
  for (int i = 0; i < most * most; ++i) {
    own[i] = 1000 * rank + i;
    all[i] = -1;
  }
}

static int sum_of(int i) { return 1000 * ranks * (ranks - 1) / 2 + ranks * i; }

/* Each makes a call of `count` elements on `comm` and looks at what came of it. */
static void barrier(MPI_Comm comm, int count, int root) {
  (void)count, (void)root;
  MPI_Barrier(comm);
}
static void bcast(MPI_Comm comm, int count, int root) {
  fill();
  MPI_Bcast(own, count, MPI_INT, root, comm);
  for (int i = 0; i < count; ++i) check(own[i] == 1000 * root + i, "bcast");
  check(own[count] == 1000 * rank + count, "end of a bcast");
}
static void allreduce(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Allreduce(own, all, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) check(all[i] == sum_of(i), "allreduce");
  check(all[count] == -1, "end of an allreduce");
  MPI_Allreduce(own, all, count, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < count; ++i) check(all[i] == 1000 * (ranks - 1) + i, "greatest");
  fill();
  MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) check(own[i] == sum_of(i), "allreduce in place");
}
static void reduce(MPI_Comm comm, int count, int root) {
  fill();
  MPI_Reduce(own, rank == root ? all : NULL, count, MPI_INT, MPI_SUM, root, comm);
  for (int i = 0; i < count && rank == root; ++i) check(all[i] == sum_of(i), "reduce");
}
static void scan(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Scan(own, all, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) {
    check(all[i] == 1000 * rank * (rank + 1) / 2 + (rank + 1) * i, "scan");
  }
}
static void exscan(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Exscan(own, all, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count && rank > 0; ++i) {
    check(all[i] == 1000 * rank * (rank - 1) / 2 + rank * i, "exscan");
  }
}
static void allgather(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, comm);
  for (int i = 0; i < count * ranks; ++i)
    check(all[i] == 1000 * (i / count) + i % count, "allgather");
}
static void alltoall(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Alltoall(own, count, MPI_INT, all, count, MPI_INT, comm);
  for (int i = 0; i < count * ranks; ++i) {
    check(all[i] == 1000 * (i / count) + rank * count + i % count, "alltoall");
  }
}
static void scatter_sums(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  MPI_Reduce_scatter_block(own, all, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) check(all[i] == sum_of(rank * count + i), "reduce_scatter_block");
}
/* Leaves have no receive buffer in the first, and no send buffer in the second. */
static void gather(MPI_Comm comm, int count, int root) {
  fill();
  MPI_Gather(own, count, MPI_INT, rank == root ? all : NULL, count, MPI_INT, root, comm);
  for (int i = 0; i < count * ranks && rank == root; ++i) {
    check(all[i] == 1000 * (i / count) + i % count, "gather");
  }
}
static void scatter(MPI_Comm comm, int count, int root) {
  fill();
  MPI_Scatter(rank == root ? own : NULL, count, MPI_INT, all, count, MPI_INT, root, comm);
  for (int i = 0; i < count; ++i) check(all[i] == 1000 * root + rank * count + i, "scatter");
}
static void sizes(int count) {
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count + r % 2;
    places[r] = most * r;
  }
}
static void gatherv(MPI_Comm comm, int count, int root) {
  fill();
  sizes(count);
  MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, comm);
  for (int r = 0; r < ranks && rank == root; ++r) {
    for (int i = 0; i < counts[r]; ++i) check(all[places[r] + i] == 1000 * r + i, "gatherv");
    check(all[places[r] + counts[r]] == -1, "end of a gatherv");
  }
}
static void scatterv(MPI_Comm comm, int count, int root) {
  fill();
  sizes(count);
  MPI_Scatterv(own, counts, places, MPI_INT, all, counts[rank], MPI_INT, root, comm);
  for (int i = 0; i < counts[rank]; ++i) {
    check(all[i] == 1000 * root + places[rank] + i, "scatterv");
  }
  check(all[counts[rank]] == -1, "end of a scatterv");
}

/* Every second rank has nothing, and no buffer for it. */
static void gather_some(MPI_Comm comm, int count, int root) {
  fill();
  sizes(count);
  for (int r = 1; r < ranks; r += 2) counts[r] = 0;
  MPI_Gatherv(counts[rank] > 0 ? own : NULL, counts[rank], MPI_INT, all, counts, places, MPI_INT,
              root, comm);
  for (int r = 0; r < ranks && rank == root; ++r) {
    check(all[places[r]] == (counts[r] > 0 ? 1000 * r : -1), "gatherv of some");
  }
}
static void allgatherv(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  sizes(count);
  MPI_Allgatherv(own, counts[rank], MPI_INT, all, counts, places, MPI_INT, comm);
  for (int r = 0; r < ranks; ++r) {
    for (int i = 0; i < counts[r]; ++i) check(all[places[r] + i] == 1000 * r + i, "allgatherv");
    check(all[places[r] + counts[r]] == -1, "end of an allgatherv");
  }
}
static void reduce_scatter(MPI_Comm comm, int count, int root) {
  fill();
  (void)root;
  sizes(count);
  MPI_Reduce_scatter(own, all, counts, MPI_INT, MPI_SUM, comm);
  int before = 0;
  for (int r = 0; r < rank; ++r) before += counts[r];
  for (int i = 0; i < counts[rank]; ++i) check(all[i] == sum_of(before + i), "reduce_scatter");
  check(all[counts[rank]] == -1, "end of a reduce_scatter");
}

typedef void collective(MPI_Comm comm, int count, int root);
static const struct {
  const char* name;
  collective* call;
} kinds[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"allreduce", allreduce},
             {"reduce", reduce},
             {"scan", scan},
             {"exscan", exscan},
             {"allgather", allgather},
             {"alltoall", alltoall},
             {"gather", gather},
             {"scatter", scatter},
             {"gatherv", gatherv},
             {"scatterv", scatterv},
             {"reduce_scatter_block", scatter_sums},
             {"some", gather_some},
             {"allgatherv", allgatherv},
             {"reduce_scatter", reduce_scatter}};

/* known_tool.c; without it there is nobody to ask. */
__attribute__((weak)) void calls_seen(int* known, int* in_all);

static void ask(const char* name) {
  int known = 0, in_all = 0;
  if (calls_seen != NULL) calls_seen(&known, &in_all);
  if (rank == 0) printf("known %s %d of %d\n", name, known, in_all);
  fflush(stdout);
}

static void try(const char* name, collective* call) {
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < often; ++i) call(comm, 3, 0);
    call(comm, 4, 0);
    call(comm, 3, ranks - 1);
    call(MPI_COMM_WORLD, 3, 0);
    call(comm, 3, 0);
    call(comm, 2, 0);
    /* In its place, as a rule under its handle, with the ranks the other way round. */
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
    int swapped;
    MPI_Comm_rank(comm, &swapped);
    check(swapped == ranks - 1 - rank, "rank");
    int last = rank;
    MPI_Bcast(&last, 1, MPI_INT, 0, comm);
    check(last == ranks - 1, "bcast on a communicator in another's place");
    MPI_Comm_free(&comm);
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm_free(&comm);
  ask(name);
}

static void ignore(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static void try_handled(const char* name, collective* call) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(ignore, &handler);
  for (int i = 0; i < often; ++i) call(comm, 3, 0);
  if (calls_seen != NULL) calls_seen(&(int){0}, &(int){0});
  MPI_Comm_set_errhandler(comm, handler);
  for (int i = 0; i < often; ++i) call(comm, 3, 0);
  ask(name);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int handled = argc > 1 && strcmp(argv[1], "handlers") == 0;
  for (int i = 1 + handled; i < argc; ++i) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
      if (strcmp(argv[i], kinds[k].name) != 0) continue;
      (handled ? try_handled : try)(argv[i], kinds[k].call);
    }
  }
  MPI_Finalize();
  return 0;
}
