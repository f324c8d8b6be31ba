/* The level of thread support that the program has asked for is still what it has after its calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int provided = -1, level = -1, in = 1, out = 0;
  if (argc != 2) return 2;
  MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
  MPI_Query_thread(&level);
  printf("provided %d, then %d\n", provided, level);
  for (int i = 0; i < 4; ++i) MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Query_thread(&level);
  printf("after calls %d\n", level);
  MPI_Finalize();
  return 0;
}
