/* Duplicates a communicator, uses the duplicate and frees it, so many times: by calls enough for
 * Sibyl to serve some of them by default. Rank 0 prints at the end of each quarter what its process
 * has: open files, mappings of anonymous files, KiB of memory.
 *
 *   churn TIMES */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 4096 };

static int files(void) {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  int found = 0;
  while (readdir(directory) != NULL) ++found;
  closedir(directory);
  return found;
}

/* Lines of a file of /proc/self with this text in them; where there is a number behind it, that. */
static int look_up(const char* file, const char* text) {
  FILE* lines = fopen(file, "r");
  if (lines == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  char line[4096];
  int found = 0, number = 0;
  while (fgets(line, sizeof line, lines) != NULL) {
    const char* at = strstr(line, text);
    if (at != NULL && sscanf(at + strlen(text), "%d", &number) == 1) {
      found = number;
    } else if (at != NULL) {
      ++found;
    }
  }
  fclose(lines);
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 400;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  static int in[count], out[count];
  for (int i = 0; i < count; ++i) in[i] = i;
  for (int time = 1; time <= times; ++time) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 3; ++call) {
      MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
      if (out[count - 1] != (count - 1) * ranks) printf("WRONG\n");
      MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm);
      if (rank == 0 && out[1] != ranks) printf("WRONG\n");
      MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
      if (out[1] != rank + 1) printf("WRONG\n");
    }
    if (rank == 0 && time % (times / 4) == 0) {
      printf("%d %d %d\n", files(), look_up("/proc/self/maps", "memfd:"),
             look_up("/proc/self/status", "VmRSS:"));
      fflush(stdout);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}
