/* Places of a program that call MPI: by return address, and for Python by the line of the innermost
 * frame. The first call from a place is looked up with locks, all others without.
 */
#ifndef SIBYL_PROFILE_SITES_H
#define SIBYL_PROFILE_SITES_H

#include <stdint.h>

enum { site_inside_mpi = -1, site_unknown = 0 };

/* Index of the site in the trace; site_inside_mpi: no call of the program's; site_unknown where
 * there is no more room. */
int32_t site_of(const void* return_address);

/* Makes a new one, the registry being locked by the caller; site_unknown where there is no room. */
int32_t site_add(const char* module, uint64_t offset, const char* file, uint32_t line,
                 const char* function);

/* The registry: what is made once and then only read. Nobody who holds it calls MPI, Python or the
 * dynamic linker. */
void registry_lock(void);
void registry_unlock(void);

#endif
