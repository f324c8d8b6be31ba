/* Where Sibyl stands among profiling tools.
 *
 * A tool defines MPI_X, notes the call and calls PMPI_X. As a rule Sibyl takes MPI_X: a tool behind
 * it in LD_PRELOAD sees the calls that Sibyl hands back, and under a tool in front of it Sibyl has
 * nothing to serve. With SIBYL_INTERCEPT=pmpi it stands below the tools instead: MPI_X goes on to
 * the tool behind, if there is one, and PMPI_X is served. What it hands back then goes to the
 * library's PMPI_X, since the tools have seen it.
 *
 * Functions that start processes, and those that make and free communicators, are always taken
 * below the tools: what is put into their arguments, and what is noted of them, is no concern of
 * theirs. So the calls of Fortran's bindings are seen, too, which call PMPI_X.
 *
 * The MPI library itself calls some PMPI_X through the dynamic linker (its files, MPI-IO, gather
 * what ranks want), and Sibyl calls some: no program's calls, which go to the library whatever is
 * set.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

int sibyl_preload_below;
static const void* mpi_object;

const char* sibyl_preload_place_among_tools(const void* mpi_function) {
  mpi_object = sibyl_preload_object_of(mpi_function);
  const char* place = secure_getenv("SIBYL_INTERCEPT");
  if (place == NULL || place[0] == '\0' || strcmp(place, "mpi") == 0) return NULL;
  sibyl_preload_below = strcmp(place, "pmpi") == 0;
  return sibyl_preload_below ? NULL : place;
}

static void* find(const char* prefix, const char* symbol) {
  char name[128];
  snprintf(name, sizeof name, "%s%s", prefix, symbol);
  return sibyl_preload_find(name, sibyl_preload_first_caller());
}

/* Whether another object than the MPI library has MPI_X behind the shim. */
static int has_tool_behind(const char* symbol) {
  return sibyl_preload_object_of(find("", symbol)) != sibyl_preload_object_of(find("P", symbol));
}

int sibyl_preload_takes(const struct sibyl_preload_symbol* symbol) {
  if (!sibyl_preload_below && symbol->role != role_below) {
    return symbol->kind != profiling_function;
  }
  switch (symbol->kind) {
    case profiling_function:
      return 1;
    case c_function:
      return !has_tool_behind(symbol->name);
    default: /* of the bindings, which call C functions through the dynamic linker, PMPI_X as well
              */
      return 0;
  }
}

void* sibyl_preload_hand_back(const char* symbol) {
  return find(sibyl_preload_below ? "P" : "", symbol);
}

/* ---- Who calls a PMPI_X -------------------------------------------------------------------- */

static int find_out_if_inside(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0) return 0;
  if (info.dli_fbase == mpi_object) return 1;
  const char* slash = strrchr(info.dli_fname, '/');
  const char* name = slash != NULL ? slash + 1 : info.dli_fname;
  /* Open MPI's components, which Debian installs as libraries of their own. */
  return strncmp(name, "mca_", 4) == 0 || strncmp(name, "libsibyl-", 9) == 0;
}

int sibyl_preload_inside_mpi(const void* caller) {
  /* What was found about the places that call; two that share an entry take turns. */
  enum { places = 256 };
  static _Atomic uint64_t known[places];
  const uint64_t place = (uintptr_t)caller;
  _Atomic uint64_t* entry = &known[(place ^ place >> 8) % places];
  const uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);
  if (found >> 1 == place) return (int)(found & 1);
  const int inside = find_out_if_inside(caller);
  atomic_store_explicit(entry, place << 1 | (uint64_t)inside, memory_order_relaxed);
  return inside;
}
