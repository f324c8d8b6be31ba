/* Finds symbols of the program, never the shim's own; see shim.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

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
  const char** names;
  size_t count, capacity;
};

static int collect_object(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct Objects* objects = data;
  if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') return 0;
  if (objects->count == objects->capacity) {
    const size_t capacity = objects->capacity == 0 ? 64 : 2 * objects->capacity;
    const char** names = realloc(objects->names, capacity * sizeof *names);
    if (names == NULL) return 1;
    objects->names = names;
    objects->capacity = capacity;
  }
  objects->names[objects->count++] = info->dlpi_name;
  return 0;
}

/* The last resort: any loaded object. dlopen must not run inside dl_iterate_phdr, which holds the
 * loader's lock, so the names are collected first. */
static void* symbol_anywhere(const char* symbol) {
  struct Objects objects = {NULL, 0, 0};
  void* address = NULL;
  dl_iterate_phdr(collect_object, &objects);
  for (size_t i = 0; i < objects.count && address == NULL; ++i) {
    address = sibyl_preload_symbol_in(objects.names[i], symbol);
  }
  free(objects.names);
  return address;
}

void* sibyl_preload_find(const char* symbol, const void* caller) {
  void* address = dlsym(RTLD_NEXT, symbol);
  if (address != NULL && !is_ours(address)) return address;
  Dl_info info;
  if (caller != NULL && dladdr(caller, &info) != 0 && info.dli_fname != NULL) {
    address = sibyl_preload_symbol_in(info.dli_fname, symbol);
    if (address != NULL) return address;
  }
  return symbol_anywhere(symbol);
}
