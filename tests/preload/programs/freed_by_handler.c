/* Error handlers that free the communicator on which the error was: before Sibyl has set it up, and
 * after. All ranks make the same wrong calls.
 */
#include <mpi.h>
#include <stdio.h>

#include "everyone.h"

static MPI_Comm own;
static int freed;

static void set_free(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  MPI_Comm copy = own; /* the library's own variable may be the communicator's */
  own = MPI_COMM_NULL;
  MPI_Comm_free(&copy);
  ++freed;
}

/* The class of the error that comes back. */
static int make_error(int number) {
  int value = 1, results[everyone_ranks] = {0}, class = 0, code;
  switch (number) {
    case 0:
      code = MPI_Allreduce(&value, results, 1, MPI_DATATYPE_NULL, MPI_SUM, own);
      break;
    case 1:
      code = MPI_Bcast(&value, 1, MPI_INT, -5, own);
      break;
    case 2:
      code = MPI_Scan(&value, results, 1, MPI_INT, MPI_OP_NULL, own);
      break;
    case 3:
      code = MPI_Allgather(&value, 1, MPI_INT, results, 1, MPI_DATATYPE_NULL, own);
      break;
    default:
      code = MPI_Gather(&value, 1, MPI_DATATYPE_NULL, results, 1, MPI_INT, 0, own);
  }
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(set_free, &handler);
  for (int number = 0; number < 5; ++number) {
    for (int before = 0; before < 6; before += 5) {
      MPI_Comm_dup(MPI_COMM_WORLD, &own);
      MPI_Comm_set_errhandler(own, handler);
      for (int i = 0; i < before; ++i) {
        int one = 1, sum = -1;
        wrong += use_everyone(own, 3, i);
        MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, own);
        wrong += sum != rank + 1;
      }
      printf("%d: error %d after %d rounds, class %d\n", rank, number, before, make_error(number));
      wrong += use_everyone(MPI_COMM_WORLD, 3, number);
    }
  }
  printf("%d: %d freed, %s\n", rank, freed, wrong == 0 ? "right" : "WRONG");
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
