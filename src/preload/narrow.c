/* The root's arrays of a `_c` function that the MPI does not have, as ints; see shim.h. */
#include <stdlib.h>

#include "shim.h"

static int ask(const char* symbol, word comm) {
  int answer = 0;
  int (*function)(word, int*) =
      (int (*)(word, int*))sibyl_preload_find(symbol, sibyl_preload_first_caller());
  if (function != NULL) function(comm, &answer);
  return answer;
}

int sibyl_preload_narrow(word counts, word displs, word root, word comm,
                         struct sibyl_preload_arrays* narrow) {
  const int between = ask("MPI_Comm_test_inter", comm);
  narrow->counts = narrow->displs = NULL;
  /* Between groups MPI_ROOT is -3 or -4, and MPI_PROC_NULL -1 or -2. */
  if (between ? (int)root > -3 : (int)root != ask("MPI_Comm_rank", comm)) return 1;
  const int size = ask(between ? "MPI_Comm_remote_size" : "MPI_Comm_size", comm);
  int* memory = malloc(2 * (size_t)size * sizeof *memory);
  if (memory == NULL) return 0;
  for (int i = 0; i < size; ++i) {
    const int64_t count = ((const int64_t*)counts)[i], place = ((const int64_t*)displs)[i];
    if (count > INT_MAX || place > INT_MAX || place < INT_MIN) {
      free(memory);
      return 0;
    }
    memory[i] = (int)count;
    memory[size + i] = (int)place;
  }
  narrow->counts = memory;
  narrow->displs = memory + size;
  return 1;
}
