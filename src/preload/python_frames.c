/* Python's frames; see python_frames.h.
 *
 * mpi4py gives up the interpreter's lock around its calls of MPI, and frames may only be looked at
 * under it; so it is taken for a moment.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "python_frames.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"

static struct {
  int (*is_finalizing)(void); /* may be missing */
  void* (*own_thread)(void);
  void* (*interpreter)(void);
  void* (*first_thread)(void*);
  void* (*thread_after)(void*);
  int (*take_lock)(void);
  void (*give_lock_back)(int);
  void* (*frame_of)(void*);
  void* (*frame_before)(void*);
  void* (*code_of)(void*);
  int (*line_of)(void*);
  int (*instruction_of)(void*); /* from 3.11 on */
  void* (*attribute)(void*, const char*);
  const char* (*text_of)(void*);
  void (*keep)(void*);
  void (*let_go)(void*);
  void (*clear_error)(void);
} python;

static int has_python;

/* An interpreter that is not linked to libpython has it in the program, which comes before this
 * library. */
static void* function(const char* symbol) {
  void* const found = dlsym(RTLD_DEFAULT, symbol);
  return found != NULL ? found : sibyl_preload_find(symbol, sibyl_preload_first_caller());
}

static void find_python(void) {
  const struct {
    void* slot;
    const char* symbol;
  } wanted[] = {
      {&python.own_thread, "PyGILState_GetThisThreadState"},
      {&python.interpreter, "PyInterpreterState_Main"},
      {&python.first_thread, "PyInterpreterState_ThreadHead"},
      {&python.thread_after, "PyThreadState_Next"},
      {&python.take_lock, "PyGILState_Ensure"},
      {&python.give_lock_back, "PyGILState_Release"},
      {&python.frame_of, "PyThreadState_GetFrame"},
      {&python.frame_before, "PyFrame_GetBack"},
      {&python.code_of, "PyFrame_GetCode"},
      {&python.line_of, "PyFrame_GetLineNumber"},
      {&python.attribute, "PyObject_GetAttrString"},
      {&python.text_of, "PyUnicode_AsUTF8"},
      {&python.keep, "Py_IncRef"},
      {&python.let_go, "Py_DecRef"},
      {&python.clear_error, "PyErr_Clear"},
  };
  has_python = 1;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void* const found = function(wanted[i].symbol);
    memcpy(wanted[i].slot, &found, sizeof found);
    if (found == NULL) has_python = 0;
  }
  /* Without such a lock who looks at frames would need one of their own. */
  const char* (*version)(void) = (const char* (*)(void))function("Py_GetVersion");
  if (version == NULL || strstr(version(), "free-threading") != NULL) has_python = 0;
  void* ending = function("Py_IsFinalizing"); /* from 3.13 on */
  if (ending == NULL) ending = function("_Py_IsFinalizing");
  memcpy(&python.is_finalizing, &ending, sizeof ending);
  void* const instruction = function("PyFrame_GetLasti");
  memcpy(&python.instruction_of, &instruction, sizeof instruction);
}

/* It has PyInit_<name>. */
int python_module(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  char symbol[128];
  const int length = (int)strcspn(name, ".");
  if (snprintf(symbol, sizeof symbol, "PyInit_%.*s", length, name) >= (int)sizeof symbol) return 0;
  return sibyl_preload_symbol_in(path, symbol) != NULL;
}

const char* python_text(void* code, const char* attribute, void** object) {
  *object = python.attribute(code, attribute);
  const char* const text = *object != NULL ? python.text_of(*object) : NULL;
  if (text == NULL) python.clear_error();
  return text;
}

void python_keep(void* object) { python.keep(object); }

void python_let_go(void* object) {
  if (object != NULL) python.let_go(object);
}

/* Where the package lies, up to the last slash; empty until its module has been loaded. Under the
 * interpreter's lock. */
static char package[PATH_MAX];

static int note_package(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  const char* const path = info->dlpi_name;
  const char* const found = path != NULL ? strstr(path, "/mpi4py/MPI.") : NULL;
  if (found == NULL) return 0;
  const int length = (int)(found - path + (ptrdiff_t)strlen("/mpi4py/"));
  snprintf(package, sizeof package, "%.*s", length, path);
  return 1;
}

/* A directory of the user's may have the same name. */
int python_of_mpi4py(const char* file) {
  if (strstr(file, "/mpi4py/") == NULL) return 0;
  if (package[0] == '\0') dl_iterate_phdr(&note_package, NULL);
  return package[0] != '\0' && strncmp(file, package, strlen(package)) == 0;
}

/* This thread's state, if it runs Python; there is none before Python begins, or after its end. */
static void* own_thread(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_python);
  if (!has_python) return NULL;
  if (python.is_finalizing != NULL && python.is_finalizing()) return NULL;
  return python.own_thread();
}

/* Whether it alone does: new threads stand first in the list. Read without the lock, of which only
 * another thread could keep it. */
static int is_alone(void* own) {
  return python.first_thread(python.interpreter()) == own && python.thread_after(own) == NULL;
}

int python_line_of(void* frame) { return python.line_of(frame); }

/* Lines are looked for in a table from its begin on, so an instruction is told apart without. */
static int position_of(void* frame) {
  return python.instruction_of != NULL ? python.instruction_of(frame) : python.line_of(frame);
}

typedef int (*taker)(void* code, int position, void* frame, void* data);

static int frames_of(void* thread, taker take, void* data) {
  const int lock = python.take_lock();
  int taken = 0;
  void* frame = python.frame_of(thread);
  while (frame != NULL) {
    void* const code = python.code_of(frame);
    taken = take(code, position_of(frame), frame, data);
    python.let_go(code);
    void* const before = taken ? NULL : python.frame_before(frame);
    python.let_go(frame);
    frame = before;
  }
  python.give_lock_back(lock);
  return taken;
}

int python_frames(taker take, void* data) {
  void* const thread = own_thread();
  return thread != NULL && frames_of(thread, take, data);
}

static int take_line(void* code, int position, void* frame, void* data) {
  (void)frame;
  void* object;
  const char* const file = python_text(code, "co_filename", &object);
  const int outside = file == NULL || !python_of_mpi4py(file);
  python_let_go(object);
  if (outside) {
    const uint64_t number =
        ((uintptr_t)code ^ (uint64_t)(unsigned)position << 40) * UINT64_C(0x9e3779b97f4a7c15);
    *(int64_t*)data = (int64_t)(number | 1);
  }
  return outside;
}

int64_t python_line(void) {
  int64_t number = 0;
  void* const thread = own_thread();
  if (thread == NULL || !is_alone(thread)) return 0;
  frames_of(thread, &take_line, &number);
  return number;
}
