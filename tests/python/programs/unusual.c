/* What a profile has to cope with: `none`, no collective; `sum`, one allreduce for each rank that
 * there is; `fork`, the same beside a child process that lives on and leaves by exit(); `plugin
 * FILE`, the same in a library (this file, with -DPLUGIN) that is loaded and unloaded. */
#include <mpi.h>

void sum_up(void);

#ifdef PLUGIN
void sum_up(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* at plugin */
}
#else
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void sum_up(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* at program */
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  pid_t child = 0;
  MPI_Init(&argc, &argv);
  if (strcmp(what, "fork") == 0) {
    child = fork();
    if (child == 0) exit(usleep(100000));
  }
  if (strcmp(what, "plugin") == 0) {
    void* const library = dlopen(argv[2], RTLD_NOW);
    if (library == NULL) return 1;
    ((void (*)(void))dlsym(library, "sum_up"))();
    dlclose(library);
  } else if (strcmp(what, "none") != 0) {
    sum_up();
  }
  if (child != 0) waitpid(child, NULL, 0);
  return MPI_Finalize();
}
#endif
