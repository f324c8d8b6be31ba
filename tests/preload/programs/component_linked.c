/* A program that Sibyl serves as a component of Open MPI, and that calls Sibyl's functions, too:
 * wrong calls are raised as MPI's are, once, and right ones are counted once. Prints what each rank
 * saw.
 */
#include <mpi.h>
#include <setjmp.h>
#include <sibyl/sibyl.h>
#include <stdio.h>

static int raised;

static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++raised;
}

static jmp_buf back;
static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  longjmp(back, *code == MPI_SUCCESS ? 1 : *code);
}

/* One rank leaves a wrong call by its error handler, which others have not made. */
static int leave_by_jump(MPI_Comm comm, int rank) {
  MPI_Errhandler jumping;
  double value = 1, sum = 0;
  MPI_Comm_create_errhandler(jump, &jumping);
  MPI_Comm_set_errhandler(comm, jumping);
  MPI_Errhandler_free(&jumping);
  if (rank != 1) return 1;
  if (setjmp(back) != 0) return 1;
  SIBYL_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_BAND, comm);
  return 0;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(note, &noting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, noting);

  const int no_comm = class_of(SIBYL_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM && raised == 1;
  raised = 0;
  double value = rank, sum = 0;
  const int wrong = SIBYL_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
  const int no_op = class_of(wrong) == MPI_ERR_OP && raised == 1;
  raised = 0;
  int right = 0;
  for (int call = 0; call < 7; ++call) {
    SIBYL_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    right += sum == size * (size - 1) / 2;
  }

  /* Requests between two groups go to the library. */
  MPI_Comm half, between;
  const int low = rank < 2;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 2 : 0, 0, &between);
  SIBYL_Request request;
  int all[8] = {0};
  const int root = low ? 0 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
  const int made =
      SIBYL_Gather_init(&rank, 1, MPI_INT, all, 1, MPI_INT, root, between, MPI_INFO_NULL, &request);
  int gathered = made == MPI_SUCCESS;
  if (gathered) {
    SIBYL_Start(&request);
    SIBYL_Arrive(&request);
    SIBYL_Wait(&request);
    if (root == MPI_ROOT) gathered = all[0] == 0 && all[1] == 1;
    SIBYL_Request_free(&request);
  }

  /* Open MPI itself makes collectives of types of its own there. */
  int merges = 0;
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Comm merged;
    int result = 0;
    MPI_Intercomm_merge(between, low, &merged);
    MPI_Allreduce(&rank, &result, 1, MPI_INT, MPI_SUM, merged);
    merges += result == size * (size - 1) / 2;
    MPI_Comm_free(&merged);
  }

  /* A communicator that becomes ready while Sibyl makes one of its own is the program's. */
  int scans = 0;
  for (int turn = 0; turn < 8; ++turn) {
    MPI_Comm one, other;
    MPI_Request ready;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_idup(MPI_COMM_WORLD, &other, &ready);
    for (int call = 0; call < 12; ++call) {
      int result = -1;
      if (call == 6) MPI_Wait(&ready, MPI_STATUS_IGNORE);
      MPI_Scan(&rank, &result, 1, MPI_INT, MPI_SUM, call < 6 ? one : other);
      scans += result == rank * (rank + 1) / 2;
    }
    MPI_Comm_free(&other);
    MPI_Comm_free(&one);
  }
  /* The next calls on that communicator are as those of the others. */
  MPI_Comm left;
  MPI_Comm_dup(MPI_COMM_WORLD, &left);
  const int jumped = leave_by_jump(left, rank);
  for (int call = 0; call < 3; ++call) {
    int result = -1;
    MPI_Scan(&rank, &result, 1, MPI_INT, MPI_SUM, left);
    scans += jumped && result == rank * (rank + 1) / 2;
  }
  MPI_Comm_free(&left);
  printf("%d: %d %d %d sums, %d, %d merges, %d scans, raised %d\n", rank, no_comm, no_op, right,
         gathered, merges, scans, raised);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Errhandler_free(&noting);
  MPI_Finalize();
  return 0;
}
