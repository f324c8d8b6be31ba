/* A library that is put before the MPI library by LD_PRELOAD, and whose exclusive scan gives wrong
 * results from its third call on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

typedef int Scan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

int PMPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm) {
  static int calls = 0;
  Scan* const scan = (Scan*)dlsym(RTLD_NEXT, "PMPI_Exscan");
  const int error = scan(send, receive, count, type, op, comm);
  if (++calls > 2) *(char*)receive ^= 1;
  return error;
}
