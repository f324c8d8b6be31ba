/* Calls MPI only from a library that it loads: the argument. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void (*work)(void) = (void (*)(void))dlsym(library, "work");
  for (int i = 0; i < 3; ++i) work();
  dlclose(library);
  return MPI_Finalize();
}
