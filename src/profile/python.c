/* The line of a Python program as a site of the trace; see python.h.
 *
 * A place is a code object and an instruction of it; the first call from it keeps a reference, so
 * that no other code object can come to the same address. Places on one line are one site.
 */
#include "python.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/python_frames.h"
#include "recorder.h"
#include "sites.h"
#include "trace.h"

/* All under the interpreter's lock. */
enum { places = 2 * trace_most_sites, inside_mpi4py = -1 };
static struct {
  void* code; /* null: free */
  int position;
  int line;
  int32_t site;
} known[places];
static int known_count;

static int place_of(void* code, int position) {
  uint64_t hash =
      ((uintptr_t)code ^ (uint64_t)(unsigned)position << 40) * UINT64_C(0x9e3779b97f4a7c15);
  int place = (int)(hash >> 40) % places;
  while (known[place].code != NULL &&
         (known[place].code != code || known[place].position != position)) {
    place = (place + 1) % places;
  }
  return place;
}

/* Of this line; INT32_MIN: none yet. */
static int32_t site_of_line(const void* code, int line) {
  for (int i = 0; i < places; ++i) {
    if (known[i].code == code && known[i].line == line) return known[i].site;
  }
  return INT32_MIN;
}

static int32_t site_at(void* code, int line) {
  const int32_t before = site_of_line(code, line);
  if (before != INT32_MIN) return before;
  void *file_object = NULL, *name_object = NULL;
  const char* const file = python_text(code, "co_filename", &file_object);
  const char* name = python_text(code, "co_qualname", &name_object); /* from 3.11 on */
  if (name == NULL) name = python_text(code, "co_name", &name_object);
  int32_t site = inside_mpi4py;
  if (file == NULL || !python_of_mpi4py(file)) {
    registry_lock();
    site = site_add("", 0, file != NULL ? file : "", (uint32_t)line, name != NULL ? name : "");
    registry_unlock();
  }
  python_let_go(file_object);
  python_let_go(name_object);
  return site;
}

static int32_t new_place(int place, void* code, int position, int line) {
  const int32_t site = site_at(code, line);
  python_keep(code);
  known[place].code = code;
  known[place].position = position;
  known[place].line = line;
  known[place].site = site;
  ++known_count;
  return site;
}

/* Takes a frame outside mpi4py, or one for which there is no more room. */
static int take_site(void* code, int position, void* frame, void* data) {
  const int place = place_of(code, position);
  const int is_known = known[place].code != NULL;
  if (!is_known && known_count >= trace_most_sites) return 1;
  const int32_t site =
      is_known ? known[place].site : new_place(place, code, position, python_line_of(frame));
  if (site == inside_mpi4py) return 0;
  *(int32_t*)data = site;
  return 1;
}

/* Looks for a line that is known, as each call does, once in a process. For the interpreter's lock
 * each search may wait until another thread of the program gives it away, some milliseconds: so the
 * shortest of them counts, and there are no more after the first of these. */
static void measure_search(void) {
  enum { searches = 64, patience_ns = 1000000 };
  static atomic_flag measured = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&measured)) return;
  const int64_t first = clock_now();
  int64_t shortest = INT64_MAX, begin = first;
  for (int i = 0; i < searches && begin - first < patience_ns; ++i) {
    int32_t site;
    python_frames(&take_site, &site);
    const int64_t end = clock_now();
    if (end - begin < shortest) shortest = end - begin;
    begin = end;
  }
  atomic_store_explicit(&trace->python_ns, shortest, memory_order_relaxed);
}

int32_t python_site(int32_t site) {
  if (python_frames(&take_site, &site) &&
      __builtin_expect(atomic_load_explicit(&trace->python_ns, memory_order_relaxed) == 0, 0)) {
    measure_search();
  }
  return site;
}
