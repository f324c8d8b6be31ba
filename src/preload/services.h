/* What the shim hands to the implementation that it has loaded; C, and C++ on the other side. */
#ifndef SIBYL_PRELOAD_SERVICES_H
#define SIBYL_PRELOAD_SERVICES_H

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming,modernize-redundant-void-arg): C */
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
};
/* NOLINTEND(readability-identifier-naming,modernize-redundant-void-arg) */

#endif
