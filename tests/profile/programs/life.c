/* How programs live and end, by the first argument:
 *   nothing    MPI_Init and MPI_Finalize alone
 *   killed     the last rank is killed between two barriers of a thousand
 *   fork       a child goes on without exec, and calls MPI as the parent does
 *   loop       communicators made and freed
 *   barriers   a thousand of them, from two lines in turn
 *   groups     halves of the world in reverse order, and what lies between them
 *   apart      rank 0 comes to MPI_Finalize later than the others
 *   jump       an error handler leaves a call by longjmp
 *   survived   rank 1 dies, and the others, which have met that, go on to MPI_Finalize
 */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static jmp_buf back;

static void killed(void) {
  for (int i = 0; i < 1000; ++i) {
    if (i == 500 && rank == size - 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void forked(void) {
  MPI_Barrier(MPI_COMM_SELF);
  const pid_t child = fork();
  if (child == 0) {
    MPI_Barrier(MPI_COMM_SELF);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  MPI_Barrier(MPI_COMM_SELF);
}

static void loop(void) {
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call <= i % 3; ++call) MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
}

static void barriers(void) {
  for (int i = 0; i < 500; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* second of two */
  }
}

static void groups(void) {
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int number = rank, sum = 0, other = rank % 2 == 0 ? 1 : 0;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, half);
  /* The leaders are the last of each half in the world's order. */
  int leaders[2] = {size % 2 == 0 ? size - 2 : size - 1, size % 2 == 0 ? size - 1 : size - 2};
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leaders[other], 5, &between);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(back, 1);
}

static void jump(void) {
  MPI_Errhandler jumps;
  int number = 0;
  MPI_Comm_create_errhandler(handler, &jumps);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
  if (setjmp(back) == 0) MPI_Bcast(&number, 1, MPI_INT, size + 5, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&jumps);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

static void survived(void) {
  int number = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    for (int other = 0; other < size; other += 2) {
      MPI_Recv(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    raise(SIGKILL);
  }
  MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  while (MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
  }
  printf("%d of %d goes on\n", rank, size);
  fflush(stdout);
  alarm(10); /* in Open MPI's own MPI_Finalize survivors wait for ever now and then */
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "nothing";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "killed") == 0) killed();
  if (strcmp(what, "fork") == 0) forked();
  if (strcmp(what, "loop") == 0) loop();
  if (strcmp(what, "barriers") == 0) barriers();
  if (strcmp(what, "groups") == 0) groups();
  if (strcmp(what, "jump") == 0) jump();
  if (strcmp(what, "apart") == 0 && rank == 0) usleep(200000);
  if (strcmp(what, "survived") == 0) survived();
  return MPI_Finalize();
}
