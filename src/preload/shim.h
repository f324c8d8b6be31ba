/* What the shim's generated entries (generate.py) and its resolution (shim.c) share.
 *
 * An entry is one intercepted symbol. It knows the number of its arguments and nothing of their
 * types: on a 64-bit machine whose C integers travel in whole registers or stack words, forwarding
 * that many machine words forwards the call. So the shim needs no mpi.h and serves every MPI.
 */
#ifndef SIBYL_PRELOAD_SHIM_H
#define SIBYL_PRELOAD_SHIM_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

typedef uintptr_t word;
_Static_assert(sizeof(word) == 8, "the shim forwards arguments as 64-bit words");

/* The function behind each entry; null until the entry's first call. */
extern _Atomic(void*) sibyl_preload_slots[];
extern const char* const sibyl_preload_symbols[];
/* The entries from this one on are of functions that are only noticed (MPI_Init), none is served.
 */
extern const unsigned sibyl_preload_first_hook;

/* Finds the function behind entry `index`, stores it and returns it; never null. `caller` is an
 * address in the code that called the entry. */
void* sibyl_preload_resolve(unsigned index, const void* caller);

/* A `_c` entry's way out where the MPI has no such function: the function with int counts. Programs
 * like mpi4py refer to MPI_Exscan_c weakly and call it if it is there; with the shim it is always
 * there. Null for every other entry. */
void* sibyl_preload_fallback(const char* symbol);

enum { error_count = 2 }; /* MPI_ERR_COUNT, the same number in every ABI that the shim knows */
/* The root's arrays of such a call as ints, to be freed by their first; null where they are not
 * significant. False where a number does not fit. */
struct sibyl_preload_arrays {
  int* counts;
  int* displs;
};
int sibyl_preload_narrow(word counts, word displs, word root, word comm,
                         struct sibyl_preload_arrays* narrow);
static inline int too_large(word count) { return (int64_t)count > INT_MAX; }

static inline void* sibyl_preload_target(unsigned index, const void* caller) {
  void* target = atomic_load_explicit(&sibyl_preload_slots[index], memory_order_acquire);
  if (__builtin_expect(target == 0, 0)) target = sibyl_preload_resolve(index, caller);
  return target;
}

#endif
