/* Processes die, or the communicator is revoked, at any call of a loop of collectives; the others
 * must recover as the standard's proposal for fault tolerance (ULFM) has it: every call ends with
 * the right result or with MPI_ERR_PROC_FAILED or MPI_ERR_REVOKED, and on the communicator that
 * MPIX_Comm_shrink gives the loop goes on. One process after the other dies.
 *
 *   faults HOW ELEMENTS INDEX...
 *
 * HOW        before   it dies before its call of that index; who meets an error revokes
 *            inside   the same, but it dies in the operator, if the call has one, of any rank
 *            agree    nobody revokes: after every call all agree whether it was right
 *            revoke   nobody dies: a rank revokes the communicator in the place of that call
 * INDEX      of the calls in the loop, one for each death or revocation
 *
 * Every rank that gets to the end prints a line, and who does not get there says where it is when
 * it is ended. */
#include <mpi.h>

#include <mpi-ext.h> /* needs what stands in the other */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  reduce,
  scan,
  exscan,
  gather,
  scatter,
  gatherv,
  scatterv,
  allreduce,
  bcast,
  reduce_scatter,
  reduce_scatter_block,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier,
  calls,
  longest = 60, /* beside others that keep the processors, each message waits for them */
  most_ranks = 16
};
static const char* const names[calls] = {"reduce",
                                         "scan",
                                         "exscan",
                                         "gather",
                                         "scatter",
                                         "gatherv",
                                         "scatterv",
                                         "allreduce",
                                         "bcast",
                                         "reduce_scatter",
                                         "reduce_scatter_block",
                                         "allgather",
                                         "allgatherv",
                                         "alltoall",
                                         "alltoallv",
                                         "barrier"};
static int applies_operator(int index) {
  return index <= exscan || index == allreduce || index == reduce_scatter ||
         index == reduce_scatter_block;
}

static int elements = 0;
static int rank = 0, size = 0, own_name = 0;
static int* send = NULL;
static int* receive = NULL;
static int counts[most_ranks], displs[most_ranks];
static int applications_left = 0; /* until this process dies in an operator; 0: it does not */
static const char* volatile now = "init";

/* In one piece, so that ranks do not write into each other's lines. */
static void hang(int signal) {
  char line[128] = "wrong: no end of ";
  strcat(line, now);
  strcat(line, signal == SIGTERM ? " when ended\n" : "\n");
  _exit(write(1, line, strlen(line)) < 0 ? 4 : 3);
}

static void wrong(const char* what, int detail) {
  printf("wrong: %s at rank %d of %d: %s %d\n", now, rank, size, what, detail);
  fflush(stdout);
  _exit(2);
}

static void add(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)type;
  if (applications_left > 0 && --applications_left == 0) raise(SIGKILL);
  for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

/* What rank r contributes, element i. */
static int given(int r, int i) { return (r + 1) * 1000 + i % 7; }

static void fill(int* to, int r, int count) {
  for (int i = 0; i < count; ++i) to[i] = given(r, i);
}

static void expect_sum(int first, int end) {
  for (int i = 0; i < elements; ++i) {
    int sum = 0;
    for (int r = first; r < end; ++r) sum += given(r, i);
    if (receive[i] != sum) wrong("element", i);
  }
}

static void expect_blocks(void) {
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < elements; ++i) {
      if (receive[r * elements + i] != given(r, i)) wrong("element", r * elements + i);
    }
  }
}

/* One call; its result is checked where it says that it is right. */
static int call(int index, MPI_Op op, MPI_Comm comm) {
  int result = MPI_SUCCESS;
  now = names[index];
  memset(receive, 0xFF, (size_t)size * elements * sizeof *receive);
  /* In a scatter a block is of the rank that gets it, else of the one that gives it. */
  const int scatters = index == scatter || index == scatterv;
  for (int r = 0; r < size; ++r) fill(send + r * elements, scatters ? r : rank, elements);
  if (index == bcast && rank == 0) fill(receive, rank, elements);
  for (int r = 0; r < size; ++r) {
    counts[r] = elements;
    displs[r] = r * elements;
  }
  alarm(longest);
  switch (index) {
    case reduce:
      result = MPI_Reduce(send, receive, elements, MPI_INT, op, 0, comm);
      break;
    case scan:
      result = MPI_Scan(send, receive, elements, MPI_INT, op, comm);
      break;
    case exscan:
      result = MPI_Exscan(send, receive, elements, MPI_INT, op, comm);
      break;
    case gather:
      result = MPI_Gather(send, elements, MPI_INT, receive, elements, MPI_INT, 0, comm);
      break;
    case scatter:
      result = MPI_Scatter(send, elements, MPI_INT, receive, elements, MPI_INT, 0, comm);
      break;
    case gatherv:
      result = MPI_Gatherv(send, elements, MPI_INT, receive, counts, displs, MPI_INT, 0, comm);
      break;
    case scatterv:
      result = MPI_Scatterv(send, counts, displs, MPI_INT, receive, elements, MPI_INT, 0, comm);
      break;
    case allreduce:
      result = MPI_Allreduce(send, receive, elements, MPI_INT, op, comm);
      break;
    case bcast:
      result = MPI_Bcast(receive, elements, MPI_INT, 0, comm);
      break;
    case reduce_scatter:
      result = MPI_Reduce_scatter(send, receive, counts, MPI_INT, op, comm);
      break;
    case reduce_scatter_block:
      result = MPI_Reduce_scatter_block(send, receive, elements, MPI_INT, op, comm);
      break;
    case allgather:
      result = MPI_Allgather(send, elements, MPI_INT, receive, elements, MPI_INT, comm);
      break;
    case allgatherv:
      result = MPI_Allgatherv(send, elements, MPI_INT, receive, counts, displs, MPI_INT, comm);
      break;
    case alltoall:
      result = MPI_Alltoall(send, elements, MPI_INT, receive, elements, MPI_INT, comm);
      break;
    case alltoallv:
      result = MPI_Alltoallv(send, counts, displs, MPI_INT, receive, counts, displs, MPI_INT, comm);
      break;
    default:
      result = MPI_Barrier(comm);
      break;
  }
  alarm(0);
  if (result != MPI_SUCCESS) {
    int class = result;
    MPI_Error_class(result, &class);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED) wrong("error class", class);
    return class;
  }
  if (index == reduce && rank == 0) expect_sum(0, size);
  if (index == scan) expect_sum(0, rank + 1);
  if (index == exscan && rank > 0) expect_sum(0, rank);
  if ((index == gather || index == gatherv) && rank == 0) expect_blocks();
  if (scatters) expect_sum(rank, rank + 1);
  if (applies_operator(index) && index > exscan) expect_sum(0, size);
  if (index == bcast) expect_sum(0, 1);
  if (index >= allgather && index <= alltoallv) expect_blocks();
  return MPI_SUCCESS;
}

/* The loop with a fault at one index; returns whether this rank has met an error. */
static int run_into_fault(const char* how, int at, int victim, MPI_Op op, MPI_Comm comm) {
  /* All have done the calls before; a fault may meet them here already. */
  now = "barrier before";
  alarm(longest);
  int met = MPI_Barrier(comm) != MPI_SUCCESS;
  alarm(0);
  for (int index = 0; index < calls && !met; ++index) {
    if (index == at && rank == victim) {
      if (strcmp(how, "revoke") == 0) {
        MPIX_Comm_revoke(comm);
        return 1;
      }
      if (strcmp(how, "inside") != 0 || !applies_operator(index) || rank == 0) raise(SIGKILL);
      applications_left = 2;
    }
    met = call(index, op, comm) != MPI_SUCCESS;
    if (applications_left > 0) raise(SIGKILL);
    if (strcmp(how, "agree") == 0) {
      int right = !met;
      now = "agree";
      alarm(longest);
      MPIX_Comm_agree(comm, &right);
      alarm(0);
      met = !right;
    }
  }
  /* Who only sends need not have noticed. */
  if (!met) {
    now = "barrier";
    alarm(longest);
    met = MPI_Barrier(comm) != MPI_SUCCESS;
    alarm(0);
  }
  return met;
}

static MPI_Comm recover(const char* how, int met, int deaths, MPI_Comm comm) {
  int flag = !met, found = 0;
  MPI_Comm smaller = MPI_COMM_NULL;
  alarm(longest);
  now = "revoke";
  if (met && strcmp(how, "agree") != 0) MPIX_Comm_revoke(comm);
  now = "agree";
  MPIX_Comm_agree(comm, &flag);
  if (flag) wrong("agreed that nothing happened", flag);
  /* After the revocation, and whatever the call before was, this ends as well. */
  const int late = strcmp(how, "agree") == 0 ? MPI_SUCCESS : call(reduce, MPI_SUM, comm);
  if (met && strcmp(how, "agree") != 0 && late != MPIX_ERR_REVOKED) wrong("late class", late);
  alarm(longest);
  now = "shrink";
  if (MPIX_Comm_shrink(comm, &smaller) != MPI_SUCCESS) wrong("shrink", 0);
  MPI_Comm_size(smaller, &found);
  if (found != size - deaths) wrong("size", found);
  now = "free";
  MPI_Comm_free(&comm);
  alarm(0);
  MPI_Comm_set_errhandler(smaller, MPI_ERRORS_RETURN);
  return smaller;
}

int main(int argc, char** argv) {
  signal(SIGALRM, hang);
  signal(SIGTERM, hang);
  alarm(longest);
  MPI_Init(&argc, &argv);
  const char* how = argv[1];
  elements = atoi(argv[2]);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_name);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  send = malloc((size_t)size * elements * sizeof *send);
  receive = malloc((size_t)size * elements * sizeof *receive);
  if (send == NULL || receive == NULL || size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Op_create(add, 0, &op);
  now = "dup";
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  alarm(0);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int fault = 0;; ++fault) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < 2; ++round) {
      for (int index = 0; index < calls; ++index) {
        if (call(index, index == reduce ? MPI_SUM : op, comm) != MPI_SUCCESS)
          wrong("without fault", 0);
      }
    }
    if (fault + 3 >= argc) break;
    /* In the middle, the root, the last one. */
    const int victim = fault % 3 == 0 ? 1 : fault % 3 == 1 ? 0 : size - 1;
    const int at = atoi(argv[fault + 3]);
    const int met = run_into_fault(how, at, victim, op, comm);
    comm = recover(how, met, strcmp(how, "revoke") == 0 ? 0 : 1, comm);
  }
  printf("process %d is rank %d of %d at the end\n", own_name, rank, size);
  fflush(stdout);
  alarm(longest);
  now = "barrier";
  MPI_Barrier(comm);
  alarm(0);
  /* MPI_Finalize after a death is no matter of this test. */
  _exit(0);
}
