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

enum sibyl_preload_kind { c_function, profiling_function, fortran_function };
/* Functions that are served, those that are only noticed (MPI_Init) or counted, those that are
 * taken below profiling tools in every case (profiling.c). */
enum { role_served, role_hook, role_below };
struct sibyl_preload_symbol {
  const char* name;
  enum sibyl_preload_kind kind;
  int role;
};
extern const struct sibyl_preload_symbol sibyl_preload_symbols[];
extern const unsigned sibyl_preload_symbol_count;

/* Finds the function behind entry `index`, stores it and returns it; never null. `caller` is an
 * address in the code that called the entry. */
void* sibyl_preload_resolve(unsigned index, const void* caller);

/* A `_c` entry's way out where the MPI has no such function: the function with int counts. Programs
 * like mpi4py refer to MPI_Exscan_c weakly and call it if it is there; with the shim it is always
 * there. Null for every other entry. */
void* sibyl_preload_fallback(const char* symbol);

enum { error_count = 2 }; /* MPI_ERR_COUNT, the same number in every ABI that the shim knows */
/* narrow.c: its arguments, for that function. `failed`: one does not fit into an int, or there is
 * no memory. */
struct sibyl_preload_narrowed {
  int failed;
  int count;
  int* arrays[4];
};
/* Of a count; one that nobody reads here may hold anything. */
int sibyl_preload_too_large(word count);
/* Calls the error handler of the communicator with error_count, which it returns. */
word sibyl_preload_refuse_count(word comm);
int sibyl_preload_is_in_place(word buffer);
/* Puts an array of ints in the place of `*array`, which belongs to `buffer`. One that has no
 * entries or is not significant stays, since nobody reads it. */
void sibyl_preload_narrow_array(struct sibyl_preload_narrowed* call, word* array, word buffer,
                                int entries);
void sibyl_preload_release(struct sibyl_preload_narrowed* call);
/* How many entries the arrays of a call on `comm` have; functions.txt says for whom. */
enum sibyl_preload_entries_of {
  entries_of_all,
  entries_of_root,
  entries_of_own,
  entries_of_sources,
  entries_of_destinations
};
int sibyl_preload_entries(enum sibyl_preload_entries_of whose, word root, word comm);

/* symbols.c: the symbol that a caller would have reached without the shim: next in the global
 * scope; else, where Python loaded its MPI locally, in the scope of the caller; else in any loaded
 * object. */
void* sibyl_preload_find(const char* symbol, const void* caller);
/* The symbol as a loaded object and its dependencies see it. */
void* sibyl_preload_symbol_in(const char* object, const char* symbol);
/* Goes over the names of loaded objects but for the program's, until `visit` returns what is not 0.
 */
void sibyl_preload_for_each_object(int (*visit)(const char* object, void* data), void* data);
/* Whether a name of Fortran's is that of an MPI library for the caller: those have a profiling name
 * beside it. `mpi_bcast` may as well be a library's own function in C, and `mpi_bcast_` that of a
 * stand-in for MPI, as sequential solvers bring one. */
int sibyl_preload_is_of_mpi(const char* fortran, const void* caller);
/* Tells loaded objects apart; null for an address in none. */
const void* sibyl_preload_object_of(const void* address);
/* An address in the object that made the first call to MPI. All objects of a process use one MPI
 * library, so it is no matter which comes first. */
const void* sibyl_preload_first_caller(void);

/* Loads the implementation unless that has been tried; whether there is one. */
int sibyl_preload_has_implementation(const void* caller);

/* profiling.c: once, before the functions below. Returns null, or a value that it does not know. */
const char* sibyl_preload_place_among_tools(const void* mpi_function);
extern int sibyl_preload_below; /* PMPI_X is taken */
/* Whether Sibyl is to serve what is called by this symbol. */
int sibyl_preload_takes(const struct sibyl_preload_symbol* symbol);
/* Where a call of MPI_X goes that Sibyl hands back. */
void* sibyl_preload_hand_back(const char* symbol);
/* Whether the code that calls PMPI_X belongs to the MPI library, or to Sibyl. */
int sibyl_preload_inside_mpi(const void* caller);

/* Where the entry that this thread is in was called from. */
extern _Thread_local const void* sibyl_preload_place __attribute__((tls_model("initial-exec")));

static inline void* sibyl_preload_target(unsigned index, const void* caller) {
  sibyl_preload_place = caller;
  void* target = atomic_load_explicit(&sibyl_preload_slots[index], memory_order_acquire);
  if (__builtin_expect(target == 0, 0)) target = sibyl_preload_resolve(index, caller);
  return target;
}

static inline void* sibyl_preload_profiling_target(unsigned index, const void* caller) {
  void* target = sibyl_preload_target(index, caller);
  const int below = sibyl_preload_below || sibyl_preload_symbols[index].role == role_below;
  if (__builtin_expect(below, 0) && sibyl_preload_inside_mpi(caller)) {
    void* native = sibyl_preload_find(sibyl_preload_symbols[index].name, caller);
    if (native != 0) target = native;
  }
  return target;
}

#endif
