/* The line of a Python program that calls MPI. */
#ifndef SIBYL_PROFILE_PYTHON_H
#define SIBYL_PROFILE_PYTHON_H

#include <stdint.h>

/* The site of the innermost Python frame of this thread outside the package mpi4py; `site`, that of
 * the module that calls MPI, where there is none. */
int32_t python_site(int32_t site);

#endif
