/* Functions whose names are those of Fortran's bindings, and which are none: a stand-in for MPI as
 * a sequential solver brings one, whose handles are its own, and functions in C. With LIBRARY they
 * are a shared library, else the program that calls them, in C.
 */
#include <stdio.h>

void mpi_bcast_(double* buffer, const int* count, const int* type, const int* root, const int* comm,
                int* error);
int mpi_barrier(const char* text);
double mpi_init(int first, int second, int third, int fourth, int fifth, int sixth);

#ifdef LIBRARY
void mpi_bcast_(double* buffer, const int* count, const int* type, const int* root, const int* comm,
                int* error) {
  buffer[0] = 100 * *count + 10 * *type + *root;
  *error = *comm;
}
int mpi_barrier(const char* text) { return text[0]; }
double mpi_init(int first, int second, int third, int fourth, int fifth, int sixth) {
  return first + second + third + fourth + fifth + sixth;
}
#else
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = 1, type = 12, root = 0, comm = 9;
  double buffer = 0;
  int error = -1, rank = 0, one = 1, all = 0;
  mpi_bcast_(&buffer, &count, &type, &root, &comm, &error);
  for (int i = 0; i < 5; ++i) MPI_Exscan(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) all = 0;
  printf("%d: %g %d %d %g %d\n", rank, buffer, error, mpi_barrier("A"), mpi_init(1, 2, 3, 4, 5, 6),
         all);
  return MPI_Finalize();
}
#endif
