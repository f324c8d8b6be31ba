/* Finds libsibyl-openmpi.so and attaches to it by the functions that the preload's shim uses; see
 * component.h.
 *
 * Where the shim itself is preloaded it serves the program, and the component stands aside.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ompi/datatype/ompi_datatype.h>

#include "component.h"
#include "preload/services.h"

_Thread_local struct sibyl_module* sibyl_component_current;
_Thread_local MPI_Comm sibyl_component_handed_back;
_Thread_local const void* sibyl_component_handed_from;
_Thread_local struct sibyl_module* sibyl_component_passed;
int sibyl_component_world_has_begun;

static int (*makes_private)(MPI_Group);
static void (*begin_world)(void);
static void (*new_communicator)(MPI_Comm);

enum { path_size = 4096 };

static const char* file_of(const void* address) {
  Dl_info info;
  return address != NULL && dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* One line a process, in one write. */
static int decline(const char* why) {
  char line[2 * path_size];
  const int length = snprintf(line, sizeof line - 1,
                              "sibyl: coll_sibyl: %s; MPI's own collectives are used\n", why);
  const size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
  if (write(STDERR_FILENO, line, size) < 0) return 0;
  return 0;
}

/* By what the shim alone takes besides MPI's functions (preload/world.c): before those there may
 * be tools, as the recorder of `sibyl profile`. */
static int is_preloaded(void) {
  const char* const file = file_of(dlsym(RTLD_DEFAULT, "PMIx_Commit"));
  return file != NULL && strstr(file, "libsibyl-preload") != NULL;
}

/* In SIBYL_LIBRARY_DIR; else beside the component, in the directory above its own two
 * (lib/sibyl/openmpi-4.1), or where the dynamic linker looks. */
static void* open_library(void) {
  const char* const name = "libsibyl-openmpi.so." SIBYL_SOVERSION;
  const int how = RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE;
  const char* const chosen = secure_getenv("SIBYL_LIBRARY_DIR");
  char own[path_size], path[2 * path_size];
  if (chosen != NULL && chosen[0] != '\0') {
    snprintf(path, sizeof path, "%s/%s", chosen, name);
    return dlopen(path, how);
  }
  const char* const file = file_of((const void*)&open_library);
  snprintf(own, sizeof own, "%s", file == NULL ? "" : file);
  char* const slash = strrchr(own, '/');
  if (slash != NULL) {
    *slash = '\0';
    const char* const places[] = {"", "/../.."};
    for (int i = 0; i < 2; ++i) {
      snprintf(path, sizeof path, "%s%s/%s", own, places[i], name);
      if (access(path, R_OK) == 0) return dlopen(path, how);
    }
  }
  return dlopen(name, how);
}

static void* native(const char* symbol) {
  static void* library;
  if (library == NULL) {
    library = dlopen(file_of((const void*)&PMPI_Init), RTLD_NOLOAD | RTLD_LAZY);
  }
  return library == NULL ? NULL : dlsym(library, symbol);
}

/* A component sees no line of the program: the MPI library stands between. */
static const void* place_of_call(void) { return NULL; }
static int python_module(const char* path) {
  (void)path;
  return 0;
}
static int64_t python_line(void) { return 0; }

/* Open MPI has translated Fortran's constants already. */
static void for_each_object(int (*visit)(const char* object, void* data), void* data) {
  (void)visit;
  (void)data;
}

/* What Open MPI makes for itself keeps no arguments of its making, for which MPI_Type_get_envelope
 * would be an error. */
static int is_librarys_type(const void* datatype) {
  const ompi_datatype_t* const type = (const ompi_datatype_t*)datatype;
  return !ompi_datatype_is_predefined(type) && type->args == NULL;
}

static const struct sibyl_preload_services services = {
    .native = native,
    .hand_back = sibyl_component_back,
    .place_of_call = place_of_call,
    .python_module = python_module,
    .python_line = python_line,
    .for_each_object = for_each_object,
    .is_librarys_type = is_librarys_type,
};

static int load(void) {
  /* The library names no MPI: its references are bound to the global scope, in which one that
   * Python has loaded is not. */
  const char* const mpi = file_of((const void*)&PMPI_Init);
  if (mpi == NULL || dlopen(mpi, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY) == NULL) {
    return decline("the MPI library was not found");
  }
  void* const library = open_library();
  if (library == NULL) {
    const char* const error = dlerror();
    return decline(error == NULL ? "libsibyl-openmpi.so was not found" : error);
  }
  const char* (*identity)(void) = (const char* (*)(void))dlsym(library, "sibyl_preload_identity");
  const char* (*attach)(const struct sibyl_preload_services*) =
      (const char* (*)(const struct sibyl_preload_services*))dlsym(
          library, "sibyl_preload_attach_component");
  void* (*lookup)(const char*) = (void* (*)(const char*))dlsym(library, "sibyl_preload_lookup");
  makes_private = (int (*)(MPI_Group))dlsym(library, "sibyl_preload_makes_private");
  begin_world = (void (*)(void))dlsym(library, "sibyl_preload_begin_world");
  new_communicator = (void (*)(MPI_Comm))dlsym(library, "sibyl_preload_new_communicator");
  if (identity == NULL || attach == NULL || lookup == NULL || makes_private == NULL ||
      begin_world == NULL || new_communicator == NULL ||
      strcmp(identity(), SIBYL_PRELOAD_IDENTITY("openmpi 40")) != 0) {
    return decline("libsibyl-openmpi.so is of another version");
  }
  const char* const problem = attach(&services);
  if (problem != NULL) decline(problem);
  return sibyl_component_look_up(lookup);
}

int sibyl_component_load(void) {
  static int loaded = -1;
  if (loaded < 0) loaded = !is_preloaded() && load();
  return loaded;
}

void sibyl_component_mark(void) {
  enum { everywhere = 3, type_bool = 1 };
  struct {
    uint16_t type;
    union {
      bool flag;
      uint64_t room[3];
    };
  } value = {.type = type_bool, .flag = true};
  void* const library = dlopen("libpmix.so.2", RTLD_NOLOAD | RTLD_LAZY);
  int (*put)(uint8_t, const char*, void*) =
      library == NULL ? NULL : (int (*)(uint8_t, const char*, void*))dlsym(library, "PMIx_Put");
  if (put != NULL) (void)put(everywhere, "sibyl.preload", &value);
}

int sibyl_component_makes_private(MPI_Group group) { return makes_private(group); }

void sibyl_component_begin_world(void) {
  sibyl_component_world_has_begun = 1;
  begin_world();
}

void sibyl_component_new(MPI_Comm comm) { new_communicator(comm); }
