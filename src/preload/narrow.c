/* The arguments of a `_c` function that the MPI does not have, for the function with int counts;
 * see shim.h. */
#include <stdlib.h>

#include "shim.h"

static void* mpi(const char* symbol) {
  return sibyl_preload_find(symbol, sibyl_preload_first_caller());
}

static int ask(const char* symbol, word comm) {
  int answer = 0;
  int (*function)(word, int*) = (int (*)(word, int*))mpi(symbol);
  if (function != NULL) function(comm, &answer);
  return answer;
}

/* How many neighbours a rank sends to, or receives from; 0 where it has no topology. */
static int neighbours(int sent_to, word comm) {
  /* MPICH's numbers, of which Open MPI has the first two swapped. */
  enum { graph = 1, cartesian, graph_of_edges, first_of_standard = 211 };
  int topology = ask("PMPI_Topo_test", comm);
  if (topology >= first_of_standard) { /* Cartesian, graph, edges */
    const int numbers[] = {cartesian, graph, graph_of_edges};
    if (topology <= first_of_standard + 2) topology = numbers[topology - first_of_standard];
  } else if (mpi("ompi_mpi_comm_world") != NULL && (topology == 1 || topology == 2)) {
    topology = 3 - topology;
  }
  if (topology == cartesian) return 2 * ask("PMPI_Cartdim_get", comm);
  int in = 0, out = 0, weighted = 0;
  if (topology == graph) {
    int (*count)(word, word, int*) = (int (*)(word, word, int*))mpi("PMPI_Graph_neighbors_count");
    if (count != NULL) count(comm, (word)ask("PMPI_Comm_rank", comm), &in);
    return in;
  }
  if (topology == graph_of_edges) {
    int (*count)(word, int*, int*, int*) =
        (int (*)(word, int*, int*, int*))mpi("PMPI_Dist_graph_neighbors_count");
    if (count != NULL) count(comm, &in, &out, &weighted);
  }
  return sent_to ? out : in;
}

int sibyl_preload_entries(enum sibyl_preload_entries_of whose, word root, word comm) {
  if (whose == entries_of_sources || whose == entries_of_destinations) {
    return neighbours(whose == entries_of_destinations, comm);
  }
  const int between = ask("PMPI_Comm_test_inter", comm);
  if (whose == entries_of_root) {
    /* Between groups MPI_ROOT is -3 or -4, and MPI_PROC_NULL -1 or -2. */
    if (between ? (int)root > -3 : (int)root != ask("PMPI_Comm_rank", comm)) return 0;
  }
  const int other_group = between && whose != entries_of_own;
  return ask(other_group ? "PMPI_Comm_remote_size" : "PMPI_Comm_size", comm);
}

int sibyl_preload_too_large(word count) {
  return (int64_t)count > INT_MAX || (int64_t)count < INT_MIN;
}

word sibyl_preload_refuse_count(word comm) {
  int (*call_handler)(word, int) = (int (*)(word, int))mpi("PMPI_Comm_call_errhandler");
  if (call_handler != NULL) call_handler(comm, error_count);
  return error_count;
}

/* Open MPI's, MPICH's; neither is any buffer's address. */
int sibyl_preload_is_in_place(word buffer) { return buffer == 1 || buffer == (word)-1; }

void sibyl_preload_narrow_array(struct sibyl_preload_narrowed* call, word* array, word buffer,
                                int entries) {
  const int64_t* large = (const int64_t*)*array;
  if (large == NULL || sibyl_preload_is_in_place(buffer) || entries <= 0) return;
  int* memory = malloc((size_t)entries * sizeof *memory);
  *array = (word)memory;
  call->arrays[call->count++] = memory;
  if (memory == NULL) call->failed = 1;
  for (int i = 0; i < entries && !call->failed; ++i) {
    call->failed = sibyl_preload_too_large((word)large[i]);
    memory[i] = (int)large[i];
  }
}

void sibyl_preload_release(struct sibyl_preload_narrowed* call) {
  while (call->count > 0) free(call->arrays[--call->count]);
}
