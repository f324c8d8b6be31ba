/* Calls on a communicator of one rank that the MPI library refuses, for the programs about error
 * handlers that leave. C, and C++ as well. Libraries that are built to look at no arguments refuse
 * the first one alone, and end with others.
 */
#include <mpi.h>

enum { wrong_calls = 9 };

static void make_wrong_call(int number, MPI_Comm alone) {
  int values[] = {1, 2}, result[] = {0, 0}, one = 1, two = 2, zero = 0;
  switch (number) {
    case 0:
      MPI_Gather(values, 2, MPI_INT, result, 1, MPI_INT, 0, alone);
      break;
    case 1:
      MPI_Allreduce(values, result, 1, MPI_DATATYPE_NULL, MPI_SUM, alone);
      break;
    case 2:
      MPI_Bcast(values, 1, MPI_INT, 1, alone);
      break;
    case 3:
      MPI_Reduce_scatter(values, result, &one, MPI_INT, MPI_OP_NULL, alone);
      break;
    case 4:
      MPI_Reduce_scatter_block(values, result, 1, MPI_INT, MPI_OP_NULL, alone);
      break;
    case 5:
      MPI_Allgather(values, 2, MPI_INT, result, 1, MPI_INT, alone);
      break;
    case 6:
      MPI_Allgatherv(values, 1, MPI_INT, result, &one, &zero, MPI_DATATYPE_NULL, alone);
      break;
    case 7:
      MPI_Alltoall(values, 2, MPI_INT, result, 1, MPI_INT, alone);
      break;
    default:
      MPI_Alltoallv(values, &two, &zero, MPI_INT, result, &one, &zero, MPI_INT, alone);
  }
}
