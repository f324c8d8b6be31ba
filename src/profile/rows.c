/* Rows of the trace, found by a hash without locks; see rows.h. */
#include "rows.h"

#include <stdatomic.h>
#include <string.h>

#include "sites.h"
#include "trace.h"

enum { places = 2 * trace_most_rows };
static _Atomic uint64_t keys[places]; /* 0: free; stored after the row */
static _Atomic uint32_t rows[places];

static int32_t find_row(uint64_t key, uint32_t* place) {
  *place = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % places;
  for (;; *place = (*place + 1) % places) {
    const uint64_t there = atomic_load_explicit(&keys[*place], memory_order_acquire);
    if (there == key) return (int32_t)atomic_load_explicit(&rows[*place], memory_order_relaxed);
    if (there == 0) return no_row;
  }
}

static int32_t add_row(uint64_t key, int32_t site, uint32_t communicator, uint32_t function) {
  registry_lock();
  uint32_t place;
  int32_t found = find_row(key, &place);
  struct trace_row* const row = found == no_row ? trace_append(&trace->rows) : NULL;
  if (row != NULL) {
    found = (int32_t)atomic_load_explicit(&trace->rows.used, memory_order_relaxed);
    row->site = (uint32_t)site;
    row->communicator = communicator;
    row->function = function;
    trace_publish(&trace->rows);
    atomic_store_explicit(&rows[place], (uint32_t)found, memory_order_relaxed);
    atomic_store_explicit(&keys[place], key, memory_order_release);
  } else if (found == no_row) {
    atomic_fetch_or_explicit(&trace->flags, trace_overflowed, memory_order_relaxed);
  }
  registry_unlock();
  return found;
}

static uint64_t row_key(int32_t site, uint32_t communicator, uint32_t function) {
  return UINT64_C(1) << 63 | (uint64_t)site << 32 | (uint64_t)(communicator & 0xffffff) << 8 |
         function;
}

int32_t row_of(int32_t site, uint32_t communicator, uint32_t function) {
  const uint64_t key = row_key(site, communicator, function);
  uint32_t place;
  const int32_t found = find_row(key, &place);
  return __builtin_expect(found != no_row, 1) ? found : add_row(key, site, communicator, function);
}

void row_remove_only(void) {
  struct trace_row* const row = trace_entry(&trace->rows, 0);
  uint32_t place;
  find_row(row_key((int32_t)row->site, row->communicator, row->function), &place);
  atomic_store(&keys[place], 0);
  atomic_store(&trace->rows.used, 0);
  memset(row, 0, sizeof *row);
}

static uint64_t plus(_Atomic uint64_t* sum, uint64_t more) {
  return atomic_load_explicit(sum, memory_order_relaxed) + more;
}

void row_count(uint32_t index, uint64_t bytes, int64_t ns) {
  struct trace_row* const row = trace_entry(&trace->rows, index);
  atomic_store_explicit(&row->calls, plus(&row->calls, 1), memory_order_relaxed);
  atomic_store_explicit(&row->bytes, plus(&row->bytes, bytes), memory_order_relaxed);
  const int64_t before = atomic_load_explicit(&row->ns, memory_order_relaxed);
  atomic_store_explicit(&row->ns, before + ns, memory_order_relaxed);
  if (ns > atomic_load_explicit(&row->max_ns, memory_order_relaxed)) {
    atomic_store_explicit(&row->max_ns, ns, memory_order_relaxed);
  }
}
