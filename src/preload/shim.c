/* The preload shim: what LD_PRELOAD puts into every process of a program.
 *
 * It refers to no MPI and links none, so a shell, Python or a launcher runs with it as without it.
 * At the first MPI call that it intercepts (MPI_Init, as a rule) it finds the MPI library that the
 * caller uses, loads the implementation that was built for it, and from then on an intercepted call
 * costs one indirect call. Where no implementation fits it says so once and hands every call to the
 * MPI library.
 *
 * Thread safety: the search runs once per process; slots are atomic and always get the same value.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shim.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "known_calls.h"
#include "python_frames.h"
#include "services.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(const void*) first_caller;
static void* (*lookup)(const char* symbol); /* the implementation's; null where none fits */

enum { path_size = 4096, version_size = 8192 + 1, line_size = 2 * path_size + 1024 };
/* What the user is to be told, once a function is called that Sibyl would serve: a program that
 * only starts and ends MPI loses nothing, and hears nothing. Written by load_implementation only.
 */
static char news[line_size];
static pthread_once_t told = PTHREAD_ONCE_INIT;

/* One line on stderr, in one write: the ranks of a program share the terminal. */
static void say(const char* format, ...) {
  char line[line_size];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)length) < 0) return; /* stderr closed: nobody to tell */
}

static void keep(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(news, sizeof news, format, arguments);
  va_end(arguments);
}

static void tell(void) {
  if (news[0] != '\0') say("%s", news);
}

/* For the implementation: constants of Fortran, which it finds by name to link nothing. */
static void* find_for_implementation(const char* symbol) {
  return sibyl_preload_find(symbol, first_caller);
}

const void* sibyl_preload_first_caller(void) { return first_caller; }

/* ---- The MPI library and the implementation that fits it ------------------------------------- */

struct Mpi {
  const char* path;    /* of the loaded library */
  const char* soname;  /* "" where it has none */
  const char* flavour; /* "openmpi", "mpich", "abi", or null: not recognised */
  int abi;             /* the number behind .so. in its soname; 0 where there is none */
  char version[version_size];
};

static const char* soname_of(const struct link_map* map) {
  const char* strings = NULL;
  const ElfW(Dyn)* name = NULL;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = (const char*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) name = entry;
  }
  return strings == NULL || name == NULL ? "" : strings + name->d_un.d_val;
}

/* Keeps the first line up to a comma, each run of blanks as one space: it goes into a message. */
static void shorten(char* version) {
  char* to = version;
  for (const char* from = version; *from != '\0' && *from != '\n' && *from != ','; ++from) {
    const int blank = *from == ' ' || *from == '\t';
    if (blank && to != version && to[-1] == ' ') continue;
    *to++ = (char)(blank ? ' ' : *from);
  }
  *to = '\0';
}

static const char* flavour_of(const struct Mpi* mpi) {
  if (strncmp(mpi->soname, "libmpi_abi.", 11) == 0) return "abi"; /* the MPI standard's own */
  if (sibyl_preload_symbol_in(mpi->path, "ompi_mpi_comm_world") != NULL) return "openmpi";
  if (strstr(mpi->version, "MPICH") != NULL || strstr(mpi->version, "MVAPICH") != NULL ||
      strstr(mpi->version, "Intel(R) MPI") != NULL) {
    return "mpich";
  }
  return NULL;
}

static int find_mpi(struct Mpi* mpi) {
  void* init = sibyl_preload_find("PMPI_Init", first_caller);
  Dl_info info;
  struct link_map* map = NULL;
  if (init == NULL || dladdr1(init, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) {
    return 0;
  }
  const char* unknown = sibyl_preload_place_among_tools(init);
  if (unknown != NULL) {
    say("sibyl: SIBYL_INTERCEPT=%s: neither mpi nor pmpi; mpi is taken", unknown);
  }
  mpi->path = map->l_name[0] != '\0' ? map->l_name : info.dli_fname;
  mpi->soname = soname_of(map);
  const char* number = strstr(mpi->soname, ".so.");
  mpi->abi = number == NULL ? 0 : atoi(number + 4);
  /* The one query that MPI allows at any time. */
  int length = 0;
  int (*get_version)(char*, int*) =
      (int (*)(char*, int*))sibyl_preload_find("PMPI_Get_library_version", first_caller);
  if (get_version == NULL || get_version(mpi->version, &length) != 0) {
    strcpy(mpi->version, "unknown version");
  }
  mpi->version[version_size - 1] = '\0';
  mpi->flavour = flavour_of(mpi);
  shorten(mpi->version);
  return 1;
}

/* The directory that holds the implementations: the shim's own, or SIBYL_LIBRARY_DIR. */
static void library_directory(char* directory) {
  const char* chosen = secure_getenv("SIBYL_LIBRARY_DIR");
  if (chosen != NULL && chosen[0] != '\0') {
    snprintf(directory, path_size, "%s", chosen);
    return;
  }
  Dl_info own;
  void* map = NULL;
  char origin[path_size], loaded[2 * path_size], resolved[path_size];
  const char* path = ".";
  if (dladdr1((void*)&say, &own, &map, RTLD_DL_LINKMAP) != 0) {
    path = own.dli_fname;
    /* A relative one is meant from where the program was when it was loaded. */
    if (path[0] != '/' && dlinfo(map, RTLD_DI_ORIGIN, origin) == 0) {
      const char* name = strrchr(path, '/');
      snprintf(loaded, sizeof loaded, "%s/%s", origin, name == NULL ? path : name + 1);
      path = loaded;
    }
  }
  if (realpath(path, resolved) != NULL) path = resolved;
  snprintf(directory, path_size, "%s", path);
  char* slash = strrchr(directory, '/');
  if (slash != NULL) {
    *slash = '\0';
  } else {
    strcpy(directory, ".");
  }
}

/* A pipe in the place of a library would have dlopen wait for who writes to it. */
static int is_readable_file(const char* path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISREG(state.st_mode) && access(path, R_OK) == 0;
}

/* Why the MPI library in use is left alone. */
static void decline(const struct Mpi* mpi, const char* format, ...) {
  char why[line_size / 2];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  keep("sibyl: this program's MPI (%s, %s) is not served: %s; MPI's own collectives are used",
       mpi->version, mpi->path, why);
}

static const char* loader_error(void) {
  const char* error = dlerror();
  return error == NULL ? "unknown error of the dynamic linker" : error;
}

_Thread_local const void* sibyl_preload_place;
static const void* place_of_call(void) { return sibyl_preload_place; }

static const struct sibyl_preload_services services = {
    .native = find_for_implementation,
    .hand_back = sibyl_preload_hand_back,
    .place_of_call = place_of_call,
    .python_module = python_module,
    .python_line = python_line,
    .remember = sibyl_preload_remember,
    .forget = sibyl_preload_forget,
    .known = sibyl_preload_find_known,
    .for_each_object = sibyl_preload_for_each_object,
};

static void load_implementation(void) {
  static struct Mpi mpi;
  if (!find_mpi(&mpi)) {
    keep("sibyl: the MPI library of this program was not found; MPI's own collectives are used");
    return;
  }
  if (mpi.flavour == NULL) {
    decline(&mpi, "it has neither Open MPI's nor MPICH's nor the standard's binary interface");
    return;
  }
  char path[path_size + 64];
  library_directory(path);
  const size_t length = strlen(path);
  /* By the name that it has where nothing can be built: links without a number are for compilers.
   */
  snprintf(path + length, sizeof path - length, "/libsibyl-%s.so." SIBYL_SOVERSION, mpi.flavour);
  if (!is_readable_file(path)) {
    decline(&mpi, "%s is missing", path);
    return;
  }
  /* The implementation names no MPI library, so that one build serves every library with the same
   * ABI under any file name; its references are bound here, to the library found, which must
   * therefore stand in the global scope. */
  if (dlopen(mpi.path, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY) == NULL) {
    decline(&mpi, "%s", loader_error());
    return;
  }
  /* Lazy: an implementation built with a newer MPI of the same ABI may refer to functions that this
   * one lacks, and calls them only for programs that do so themselves (the `_c` functions). */
  void* implementation = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (implementation == NULL) {
    decline(&mpi, "%s", loader_error());
    return;
  }
  const char* (*identity)(void) =
      (const char* (*)(void))dlsym(implementation, "sibyl_preload_identity");
  const char* (*attach)(const struct sibyl_preload_services*) =
      (const char* (*)(const struct sibyl_preload_services*))dlsym(implementation,
                                                                   "sibyl_preload_attach");
  void* (*find)(const char*) =
      (void* (*)(const char*))dlsym(implementation, "sibyl_preload_lookup");
  if (identity == NULL || attach == NULL || find == NULL) {
    decline(&mpi, "%s is no implementation of Sibyl", path);
    return;
  }
  char wanted[64];
  snprintf(wanted, sizeof wanted, SIBYL_PRELOAD_IDENTITY("%s %d"), mpi.flavour, mpi.abi);
  if (strcmp(identity(), wanted) != 0) {
    decline(&mpi, "%s was built for the ABI %s, wanted is %s", path, identity(), wanted);
    return;
  }
  const char* problem = attach(&services);
  if (problem != NULL) keep("sibyl: %s; MPI's own collectives are used", problem);
  lookup = find;
}

/* ---- The background ------------------------------------------------------------------------- */

/* Arrivals that are to be exchanged in the background need MPI_THREAD_MULTIPLE. By these variables
 * Open MPI and MPICH give it to a program that calls MPI_Init, and they read them there: so they
 * are set before main, in the place of an MPI_Init of our own. What the user has set stays. */
static void set_thread_level(void) __attribute__((constructor));
static void set_thread_level(void) {
  const char* mode = secure_getenv("SIBYL_PREDICT");
  const char* thread = secure_getenv("SIBYL_THREAD");
  if (mode == NULL || strcmp(mode, "background") != 0) return;
  if (thread != NULL && strcmp(thread, "0") == 0) return;
  setenv("OMPI_MPI_THREAD_LEVEL", "3", 0);
  setenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE", 0);
}

/* ---- Entries ------------------------------------------------------------------------------- */

/* Behind an entry whose symbol no library but the shim has. 16 is MPI_ERR_OTHER or MPI_ERR_INTERN.
 */
static word missing(void) { return 16; }

int sibyl_preload_has_implementation(const void* caller) {
  const void* nobody = NULL;
  atomic_compare_exchange_strong(&first_caller, &nobody, caller);
  pthread_once(&once, load_implementation);
  return lookup != NULL;
}

void* sibyl_preload_resolve(unsigned index, const void* caller) {
  const struct sibyl_preload_symbol* symbol = &sibyl_preload_symbols[index];
  const int of_mpi =
      symbol->kind != fortran_function || sibyl_preload_is_of_mpi(symbol->name, caller);
  const int has_implementation = of_mpi && sibyl_preload_has_implementation(caller);
  void* target = NULL;
  if (of_mpi && sibyl_preload_takes(symbol)) {
    if (symbol->role == role_served) pthread_once(&told, tell);
    const char* function = symbol->name + (symbol->kind == profiling_function);
    if (has_implementation) target = lookup(function);
  }
  if (target == NULL) target = sibyl_preload_find(symbol->name, caller);
  if (target == NULL) target = sibyl_preload_fallback(symbol->name);
  if (target == NULL) {
    say("sibyl: %s was called, but this program's MPI has no such function", symbol->name);
    target = (void*)&missing;
  }
  /* What is not MPI's is so for this caller. */
  if (of_mpi) atomic_store_explicit(&sibyl_preload_slots[index], target, memory_order_release);
  return target;
}
