/* Finds symbols of the program, never the shim's own; see shim.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

const void* sibyl_preload_object_of(const void* address) {
  Dl_info info;
  return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

static int is_ours(const void* address) {
  return sibyl_preload_object_of(address) ==
         sibyl_preload_object_of((const void*)&sibyl_preload_object_of);
}

void* sibyl_preload_symbol_in(const char* object, const char* symbol) {
  void* handle = dlopen(object, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == NULL) return NULL;
  void* address = dlsym(handle, symbol);
  dlclose(handle);
  return address == NULL || is_ours(address) ? NULL : address;
}

struct Objects {
  char** names;
  size_t count, capacity;
};

static int collect_object(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct Objects* objects = data;
  if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') return 0;
  if (objects->count == objects->capacity) {
    const size_t capacity = objects->capacity == 0 ? 64 : 2 * objects->capacity;
    char** names = realloc(objects->names, capacity * sizeof *names);
    if (names == NULL) return 1;
    objects->names = names;
    objects->capacity = capacity;
  }
  char* const name = strdup(info->dlpi_name); /* another thread may unload the object */
  if (name == NULL) return 1;
  objects->names[objects->count++] = name;
  return 0;
}

/* dlopen must not run inside dl_iterate_phdr, which holds the loader's lock, so the names are
 * collected first. */
void sibyl_preload_for_each_object(int (*visit)(const char* object, void* data), void* data) {
  struct Objects objects = {NULL, 0, 0};
  dl_iterate_phdr(collect_object, &objects);
  int ended = 0;
  for (size_t i = 0; i < objects.count; ++i) {
    if (!ended) ended = visit(objects.names[i], data);
    free(objects.names[i]);
  }
  free(objects.names);
}

struct Wanted {
  const char* symbol;
  void* address;
};

static int look_in(const char* object, void* data) {
  struct Wanted* const wanted = data;
  wanted->address = sibyl_preload_symbol_in(object, wanted->symbol);
  return wanted->address != NULL;
}

/* The last resort: any loaded object. */
static void* symbol_anywhere(const char* symbol) {
  struct Wanted wanted = {symbol, NULL};
  sibyl_preload_for_each_object(look_in, &wanted);
  return wanted.address;
}

/* In the global scope, or that of the caller. */
static void* symbol_in_scope(const char* symbol, const void* caller) {
  void* address = dlsym(RTLD_NEXT, symbol);
  if (address != NULL && !is_ours(address)) return address;
  Dl_info info;
  if (caller == NULL || dladdr(caller, &info) == 0 || info.dli_fname == NULL) return NULL;
  return sibyl_preload_symbol_in(info.dli_fname, symbol);
}

void* sibyl_preload_find(const char* symbol, const void* caller) {
  void* const address = symbol_in_scope(symbol, caller);
  return address != NULL ? address : symbol_anywhere(symbol);
}

int sibyl_preload_is_of_mpi(const char* fortran, const void* caller) {
  if (strstr(fortran, "_f08") != NULL) return 1; /* nobody else has such names */
  char profiling[64];
  snprintf(profiling, sizeof profiling, "%c%s", fortran[0] == 'M' ? 'P' : 'p', fortran);
  return symbol_in_scope(profiling, caller) != NULL;
}
