/* Python's frames, by the functions of whatever interpreter the process has; see python.h.
 *
 * mpi4py gives up the interpreter's lock around its calls of MPI, and frames may only be looked at
 * under it; so it is taken for a moment. A place is a code object and a line; the first call from
 * it keeps a reference, so that no other code object can come to the same address.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "native.h"
#include "sites.h"
#include "trace.h"

static struct {
  int (*is_initialized)(void);
  int (*is_finalizing)(void); /* may be missing */
  void* (*own_thread)(void);
  int (*take_lock)(void);
  void (*give_lock_back)(int);
  void* (*frame_of)(void*);
  void* (*frame_before)(void*);
  void* (*code_of)(void*);
  int (*line_of)(void*);
  void* (*attribute)(void*, const char*);
  const char* (*text_of)(void*);
  void (*let_go)(void*);
  void (*clear_error)(void);
} python;

static int has_python;

static void* function(const char* symbol) {
  return sibyl_preload_find(symbol, sibyl_preload_first_caller());
}

static void find_python(void) {
  const struct {
    void* slot;
    const char* symbol;
  } wanted[] = {
      {&python.is_initialized, "Py_IsInitialized"},
      {&python.own_thread, "PyGILState_GetThisThreadState"},
      {&python.take_lock, "PyGILState_Ensure"},
      {&python.give_lock_back, "PyGILState_Release"},
      {&python.frame_of, "PyThreadState_GetFrame"},
      {&python.frame_before, "PyFrame_GetBack"},
      {&python.code_of, "PyFrame_GetCode"},
      {&python.line_of, "PyFrame_GetLineNumber"},
      {&python.attribute, "PyObject_GetAttrString"},
      {&python.text_of, "PyUnicode_AsUTF8"},
      {&python.let_go, "Py_DecRef"},
      {&python.clear_error, "PyErr_Clear"},
  };
  has_python = 1;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void* const found = function(wanted[i].symbol);
    memcpy(wanted[i].slot, &found, sizeof found);
    if (found == NULL) has_python = 0;
  }
  /* Without such a lock the tables below would need one. */
  const char* (*version)(void) = (const char* (*)(void))function("Py_GetVersion");
  if (version == NULL || strstr(version(), "free-threading") != NULL) has_python = 0;
  void* ending = function("Py_IsFinalizing"); /* from 3.13 on */
  if (ending == NULL) ending = function("_Py_IsFinalizing");
  memcpy(&python.is_finalizing, &ending, sizeof ending);
}

/* ---- Code objects and lines, all under the interpreter's lock ----------------------------------
 */

enum { places = 2 * trace_most_sites, inside_mpi4py = -1 };
static struct {
  void* code; /* null: free */
  int line;
  int32_t site;
} known[places];
static int known_count;

static int place_of(void* code, int line) {
  uint64_t hash = ((uintptr_t)code ^ (uint64_t)(unsigned)line << 40) * UINT64_C(0x9e3779b97f4a7c15);
  int place = (int)(hash >> 40) % places;
  while (known[place].code != NULL && (known[place].code != code || known[place].line != line)) {
    place = (place + 1) % places;
  }
  return place;
}

/* An attribute that is a text; it is let go of by the caller, by `*object`. */
static const char* text_attribute(void* code, const char* name, void** object) {
  *object = python.attribute(code, name);
  const char* const text = *object != NULL ? python.text_of(*object) : NULL;
  if (text == NULL) python.clear_error();
  return text;
}

static int is_of_mpi4py(const char* file) { return strstr(file, "/mpi4py/") != NULL; }

/* Takes over the reference to the code object. */
static int32_t new_place(int place, void* code, int line) {
  void *file_object = NULL, *name_object = NULL;
  const char* const file = text_attribute(code, "co_filename", &file_object);
  const char* name = text_attribute(code, "co_qualname", &name_object); /* from 3.11 on */
  if (name == NULL) name = text_attribute(code, "co_name", &name_object);
  int32_t site = inside_mpi4py;
  if (file == NULL || !is_of_mpi4py(file)) {
    registry_lock();
    site = site_add("", 0, file != NULL ? file : "", (uint32_t)line, name != NULL ? name : "");
    registry_unlock();
  }
  if (file_object != NULL) python.let_go(file_object);
  if (name_object != NULL) python.let_go(name_object);
  known[place].code = code;
  known[place].line = line;
  known[place].site = site;
  ++known_count;
  return site;
}

/* The site of a frame, or inside_mpi4py; `otherwise` where there is no more room. */
static int32_t site_of_frame(void* frame, int32_t otherwise) {
  void* const code = python.code_of(frame);
  const int line = python.line_of(frame);
  const int place = place_of(code, line);
  if (known[place].code == NULL && known_count < trace_most_sites) {
    return new_place(place, code, line);
  }
  const int32_t site = known[place].code != NULL ? known[place].site : otherwise;
  python.let_go(code);
  return site;
}

int32_t python_site(int32_t site) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_python);
  if (!has_python || !python.is_initialized()) return site;
  if (python.is_finalizing != NULL && python.is_finalizing()) return site;
  if (python.own_thread() == NULL) return site; /* a thread that Python does not know */
  const int lock = python.take_lock();
  int32_t found = inside_mpi4py;
  void* frame = python.frame_of(python.own_thread());
  while (frame != NULL) {
    found = site_of_frame(frame, site);
    void* const before = found == inside_mpi4py ? python.frame_before(frame) : NULL;
    python.let_go(frame);
    frame = before;
  }
  python.give_lock_back(lock);
  return found == inside_mpi4py ? site : found;
}
