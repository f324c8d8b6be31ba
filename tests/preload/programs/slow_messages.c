/* A library to be preloaded: messages leave twenty milliseconds late, but those within the MPI
 * library's own collectives, which make no MPI calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <time.h>

/* The MPI library's own, after longer than a loaded machine holds up a call. */
static void* late(const char* name) {
  const struct timespec twenty_milliseconds = {0, 20000000};
  nanosleep(&twenty_milliseconds, NULL);
  return dlsym(RTLD_NEXT, name);
}

int PMPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm) = late("PMPI_Send");
  return send(data, count, type, to, tag, comm);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) =
      late("PMPI_Isend");
  return send(data, count, type, to, tag, comm, request);
}

int PMPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request* request) {
  int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) =
      late("PMPI_Issend");
  return send(data, count, type, to, tag, comm, request);
}
