/* Loads a library in Fortran, LIBRARY, where others do not see it, as Python loads its modules: it
 * and the bindings that it needs have constants of their own. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { size = 1000 };
  static int x[size];
  int rank = 0, error = 0, n = size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void (*sum)(int*, int*, int*) = NULL;
  if (library != NULL) sum = (void (*)(int*, int*, int*))dlsym(library, "sum_in_place_");
  if (sum == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < size; ++i) x[i] = 100 * rank + i;
    sum(x, &n, &error);
  }
  printf("%d: %d %d %d\n", rank, error, x[0], x[size - 1]);
  return MPI_Finalize();
}
