/* Return addresses, and which of them are of Python; see sites.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "preload/python_frames.h"
#include "python.h"
#include "trace.h"

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

void registry_lock(void) { pthread_mutex_lock(&registry); }
void registry_unlock(void) { pthread_mutex_unlock(&registry); }

/* Open addressing; an entry is written once, its address last. */
enum { places = 2 * trace_most_sites, of_python = 1 << 30 };
static struct {
  _Atomic uintptr_t address;
  _Atomic int32_t site; /* or site_inside_mpi; of_python is added where the caller is */
} known[places];
static int known_count;

static uint32_t first_place(uintptr_t address) {
  return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % places;
}

static int32_t find(uintptr_t address, uint32_t* place) {
  for (*place = first_place(address);; *place = (*place + 1) % places) {
    const uintptr_t there = atomic_load_explicit(&known[*place].address, memory_order_acquire);
    if (there == address) return atomic_load_explicit(&known[*place].site, memory_order_relaxed);
    if (there == 0) return INT32_MIN;
  }
}

int32_t site_add(const char* module, uint64_t offset, const char* file, uint32_t line,
                 const char* function) {
  struct trace_site* const site = trace_append(&trace->sites);
  if (site == NULL) {
    atomic_fetch_or_explicit(&trace->flags, trace_overflowed, memory_order_relaxed);
    return site_unknown;
  }
  /* Modules and files come again and again, most often those of the last site. */
  static char last_module[PATH_MAX], last_file[PATH_MAX];
  static uint32_t module_string, file_string;
  if (strcmp(module, last_module) != 0) {
    snprintf(last_module, sizeof last_module, "%s", module);
    module_string = trace_string(module);
  }
  if (strcmp(file, last_file) != 0) {
    snprintf(last_file, sizeof last_file, "%s", file);
    file_string = trace_string(file);
  }
  site->module = module_string;
  site->file = file_string;
  site->line = line;
  site->function = trace_string(function);
  site->offset = offset;
  const int32_t index = (int32_t)atomic_load_explicit(&trace->sites.used, memory_order_relaxed);
  trace_publish(&trace->sites);
  return index;
}

static int32_t look_up(const void* return_address) {
  const uintptr_t address = (uintptr_t)return_address;
  Dl_info info = {0};
  struct link_map* map = NULL;
  char module[PATH_MAX] = "";
  uint64_t offset = address;
  int python = 0, inside = 0;
  if (dladdr1(return_address, &info, (void**)&map, RTLD_DL_LINKMAP) != 0) {
    const int is_program = map != NULL && map->l_name[0] == '\0';
    const char* const path = is_program ? "/proc/self/exe" : info.dli_fname;
    if (realpath(path, module) == NULL) snprintf(module, sizeof module, "%s", info.dli_fname);
    offset = address - (uintptr_t)info.dli_fbase;
    inside = native_owns(return_address);
    python = !inside && !is_program && python_module(info.dli_fname);
  }
  registry_lock();
  uint32_t place;
  int32_t site = find(address, &place);
  if (site == INT32_MIN && known_count < trace_most_sites) {
    site = inside ? site_inside_mpi
                  : site_add(module, offset, "", 0, info.dli_sname != NULL ? info.dli_sname : "");
    if (python) site |= of_python;
    ++known_count;
    atomic_store_explicit(&known[place].site, site, memory_order_relaxed);
    atomic_store_explicit(&known[place].address, address, memory_order_release);
  }
  registry_unlock();
  if (site != INT32_MIN) return site;
  return inside ? site_inside_mpi : site_unknown;
}

int32_t site_of(const void* return_address) {
  uint32_t place;
  int32_t site = find((uintptr_t)return_address, &place);
  if (__builtin_expect(site == INT32_MIN, 0)) {
    const int saved = errno;
    site = look_up(return_address);
    errno = saved;
  }
  if (__builtin_expect(site >= of_python, 0)) site = python_site(site - of_python);
  return site;
}
