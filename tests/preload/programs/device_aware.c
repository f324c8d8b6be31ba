/* A profiling tool that makes any MPI library take the memory of a stub of a device: what
 * tests/device has allocated is copied by the stub itself. Tells at the end how many calls had such
 * buffers. STUB in the environment names the stub, which the program loads. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void* stub(const char* name) {
  void* library = dlopen(getenv("STUB"), RTLD_NOW | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, name);
}

static int is_device(const void* address) {
  int (*owns)(const void*) = NULL;
  *(void**)&owns = stub("stub_owns");
  return address != MPI_IN_PLACE && owns != NULL && owns(address);
}

/* The buffer itself, or a copy on the host. */
static void* host(const void* buffer, size_t bytes) {
  if (!is_device(buffer)) return (void*)buffer;
  void (*read)(void*, const void*, size_t);
  *(void**)&read = stub("stub_read");
  void* copy = malloc(bytes);
  read(copy, buffer, bytes);
  return copy;
}

static void back(void* copy, const void* buffer, size_t bytes) {
  if (copy == buffer) return;
  void (*write)(void*, const void*, size_t);
  *(void**)&write = stub("stub_write");
  write((void*)buffer, copy, bytes);
  free(copy);
}

static size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return (size_t)count * (size_t)size;
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const size_t bytes = bytes_of(count, type);
  calls += is_device(send) || is_device(receive);
  void* const from = host(send, bytes);
  void* const to = host(receive, bytes);
  const int result = PMPI_Allreduce(from, to, count, type, op, comm);
  back(from, send, bytes);
  back(to, receive, bytes);
  return result;
}

int MPI_Allgather(const void* send, int count, MPI_Datatype type, void* receive, int each,
                  MPI_Datatype received, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const size_t bytes = bytes_of(count, type), all = (size_t)ranks * bytes_of(each, received);
  calls += is_device(send) || is_device(receive);
  void* const from = host(send, bytes);
  void* const to = host(receive, all);
  const int result = PMPI_Allgather(from, count, type, to, each, received, comm);
  back(from, send, bytes);
  back(to, receive, all);
  return result;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const size_t bytes = bytes_of(count, type);
  calls += is_device(buffer);
  void* const at = host(buffer, bytes);
  const int result = PMPI_Bcast(at, count, type, root, comm);
  back(at, buffer, bytes);
  return result;
}

int MPI_Finalize(void) {
  fprintf(stderr, "native with device memory: %d\n", calls);
  return PMPI_Finalize();
}
