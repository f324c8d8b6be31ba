/* What the shim hands to the implementation that it has loaded; C, and C++ on the other side. */
#ifndef SIBYL_PRELOAD_SERVICES_H
#define SIBYL_PRELOAD_SERVICES_H

#include <stdint.h>

#include "sibyl/version.h"

/* What a shim and an implementation have to agree on: an MPI's ABI, by its name and the number in
 * its library's soname, and the release, with which this structure may change. */
#define SIBYL_PRELOAD_IDENTITY(abi) abi " by Sibyl " SIBYL_VERSION_STRING

/* NOLINTBEGIN(readability-identifier-naming,modernize-redundant-void-arg): C */
/* The arguments of a call as words; what a function has not is 0 (known_calls.h). */
struct sibyl_preload_arguments {
  uint64_t communicator;
  /* The first one; of irregular blocks with a root one more than this rank's count, where it has no
   * buffer for its own block, and else 0. */
  uint64_t type;
  uint64_t other; /* the second one, or the operator */
  /* The first one, and the second one in the upper half; of irregular blocks bits, which of their
   * arrays are given. */
  uint64_t counts;
  uint64_t handle_bits; /* in which handles are compared */
  uint32_t root;
  uint32_t nulls; /* bits, by buffer */
  /* Where all ranks know all sizes, of so many ranks: in `counts` the sum, in `root` the largest.
   */
};

struct sibyl_preload_services {
  /* A symbol of the program's own libraries. */
  void* (*native)(const char* symbol);
  /* The function to which a call of MPI_X goes that Sibyl does not serve: a profiling tool's, or
   * the MPI library's. */
  void* (*hand_back)(const char* symbol);
  /* The address in the program to which the call returns that this thread is in. */
  const void* (*place_of_call)(void);
  /* Whether the object at this path is a module of Python's; a number for this thread's line of the
   * Python program (python_frames.h). */
  int (*python_module)(const char* path);
  int64_t (*python_line)(void);
  /* From now on calls of this function with these arguments go where it is handed back; those on
   * this communicator do not any more, on any if it is 0. Null where there are no entries. */
  void (*remember)(const char* symbol, const struct sibyl_preload_arguments* call);
  void (*forget)(uint64_t communicator);
  /* Where a call by the entry of this index goes that was remembered; null where it was not. */
  void* (*known)(unsigned entry, const struct sibyl_preload_arguments* call);
  /* Goes over the names of loaded objects but for the program's, until `visit` returns what is not
   * 0. */
  void (*for_each_object)(int (*visit)(const char* object, void* data), void* data);
  /* Whether the MPI library has made this datatype for itself; null where its own collectives are
   * not seen. */
  int (*is_librarys_type)(const void* datatype);
};
/* NOLINTEND(readability-identifier-naming,modernize-redundant-void-arg) */

#endif
