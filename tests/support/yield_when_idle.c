/* Makes MPICH's waiting ranks yield, as Open MPI's do when it is told to, and sleep in long waits.
 *
 * With more ranks than cores a rank that polls keeps the others from running until its time slice
 * ends, and a test of many small calls takes minutes; and many that yield to one another take the
 * cores from those that have something to do. MPICH over UCX polls through this function of
 * UCX, so a test program that defines it comes in between. Where MPICH was built without UCX nobody
 * calls it. Linked into tests for MPICH only, or preloaded with them; never part of the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  typedef unsigned (*Progress)(void*);
  static Progress progress; /* the same value whoever writes it first */
  Progress real = __atomic_load_n(&progress, __ATOMIC_RELAXED);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (real == NULL) { /* Python loads MPI, and with it UCX, out of the global scope */
      void* ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
      if (ucp != NULL) *(void**)&real = dlsym(ucp, "ucp_worker_progress");
    }
    __atomic_store_n(&progress, real, __ATOMIC_RELAXED);
  }
  const unsigned events = real(worker);
  static __thread unsigned idle;
  idle = events == 0 ? idle + 1 : 0;
  if (idle > 30) {
    const struct timespec a_little = {0, 50000};
    nanosleep(&a_little, NULL);
  } else if (idle > 0) {
    sched_yield();
  }
  return events;
}
