/* The recorder: when it runs, and what it notes of each call; see recorder.h.
 *
 * A call costs two readings of the clock, three lookups in tables that are read without locks
 * (site, communicator, row), and the lines of the trace that it writes. Who may write what: rows
 * are added to atomically; records by whoever holds trace.c's lock; all that is made once (sites,
 * communicators, rows, strings) under the registry's lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native.h"
#include "sites.h"
#include "trace.h"

atomic_int recorder_state = recorder_idle;

/* ---- Functions of the MPI library ----------------------------------------------------------- */

static _Atomic(const void*) first_caller;
const void* sibyl_preload_first_caller(void) { return first_caller; }

/* Behind an entry whose symbol no library but this one has; 16 is an error in every MPI. */
static word missing(void) { return 16; }

/* A program that has not called MPI_Init may have several threads that find MPI at once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void find_native(void) {
  if (!native_find(first_caller)) atomic_store(&recorder_state, recorder_off);
}

static void find_mpi(const void* caller) {
  const void* nobody = NULL;
  atomic_compare_exchange_strong(&first_caller, &nobody, caller);
  pthread_once(&once, find_native);
}

void* recorder_resolve(unsigned index, const void* caller) {
  find_mpi(caller);
  const char* const name = profile_symbols[index].name;
  void* target = NULL;
  char profiling[64];
  snprintf(profiling, sizeof profiling, "P%s", name);
  void* const fallback = recorder_fallback(name);
  /* Sibyl's shim behind this library has a `_c` function in every case, and would find this one's
   * where MPI has none. */
  if (fallback == NULL || native.flavour == flavour_unknown || native_function(profiling) != NULL) {
    target = sibyl_preload_find(name, caller);
  }
  if (target == NULL) target = fallback;
  if (target == NULL) target = (void*)&missing;
  atomic_store_explicit(&recorder_slots[index], target, memory_order_release);
  return target;
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Of threads for which the trace has no place. */
static __thread struct trace_thread nowhere;
static __thread struct trace_thread* own_thread;
static pthread_key_t thread_key;
static int has_thread_key;
static int thread_is_free[trace_most_threads];

static void leave_thread(void* thread) {
  struct trace_thread* const left = thread;
  atomic_store_explicit(&left->inside, 0, memory_order_release);
  own_thread = NULL;
  if (left == &nowhere) return;
  const struct trace_thread* const first = trace_entry(&trace->threads, 0);
  registry_lock();
  thread_is_free[left - first] = 1;
  registry_unlock();
}

static struct trace_thread* enter_thread(void) {
  struct trace_thread* found = NULL;
  registry_lock();
  for (int i = 0; i < trace_most_threads && found == NULL; ++i) {
    if (!thread_is_free[i]) continue;
    thread_is_free[i] = 0;
    found = trace_entry(&trace->threads, (uint64_t)i);
  }
  if (found == NULL) {
    found = trace_append(&trace->threads);
    if (found != NULL) trace_publish(&trace->threads);
  }
  registry_unlock();
  if (found == NULL) found = &nowhere;
  atomic_store_explicit(&found->tid, (int32_t)syscall(SYS_gettid), memory_order_relaxed);
  own_thread = found;
  if (has_thread_key && pthread_setspecific(thread_key, found) != 0) own_thread = found;
  return found;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

enum { row_places = 2 * trace_most_rows, no_row = -1 };
static _Atomic uint64_t row_keys[row_places]; /* 0: free; stored after the row */
static _Atomic uint32_t rows[row_places];

static int32_t find_row(uint64_t key, uint32_t* place) {
  *place = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % row_places;
  for (;; *place = (*place + 1) % row_places) {
    const uint64_t there = atomic_load_explicit(&row_keys[*place], memory_order_acquire);
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
    atomic_store_explicit(&row_keys[place], key, memory_order_release);
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

static int32_t row_of(int32_t site, uint32_t communicator, uint32_t function) {
  const uint64_t key = row_key(site, communicator, function);
  uint32_t place;
  const int32_t found = find_row(key, &place);
  return __builtin_expect(found != no_row, 1) ? found : add_row(key, site, communicator, function);
}

/* Of the only row. */
static void remove_row(void) {
  struct trace_row* const row = trace_entry(&trace->rows, 0);
  uint32_t place;
  find_row(row_key((int32_t)row->site, row->communicator, row->function), &place);
  atomic_store(&row_keys[place], 0);
  atomic_store(&trace->rows.used, 0);
  memset(row, 0, sizeof *row);
}

static void count(struct trace_row* row, uint64_t bytes, int64_t ns) {
  atomic_fetch_add_explicit(&row->calls, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&row->bytes, bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&row->ns, ns, memory_order_relaxed);
  int64_t most = atomic_load_explicit(&row->max_ns, memory_order_relaxed);
  while (ns > most && !atomic_compare_exchange_weak_explicit(
                          &row->max_ns, &most, ns, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void begin_without_init(void);

void recorder_begin(struct recorded_call* call, unsigned index, const word* arguments,
                    const void* caller) {
  const struct profile_symbol* const symbol = &profile_symbols[index];
  const struct profile_function* const function = &profile_functions[symbol->function];
  call->symbol = NULL;
  if (__builtin_expect(atomic_load_explicit(&recorder_state, memory_order_acquire) != recorder_on,
                       0)) {
    if (function->kind == kind_collective) begin_without_init();
    if (atomic_load(&recorder_state) != recorder_on) return;
  }
  const int32_t site = site_of(caller);
  if (site == site_inside_mpi) return;
  uint32_t communicator_index = no_communicator;
  call->root = -1;
  call->number = call->bytes = call->signature = 0;
  call->has_record = 0;
  if (function->kind == kind_collective) {
    struct communicator* const communicator = communicator_of(call_communicator(symbol, arguments));
    if (communicator == NULL) return;
    call->root = call_root(symbol, arguments);
    call->bytes = call_bytes(symbol, arguments, communicator);
    call->signature = call_signature(symbol, arguments, call->root, call->bytes);
    call->has_record = communicator->has_records;
    communicator_index = communicator->index;
    if (communicator_index != no_communicator) {
      struct trace_communicator* const entry =
          trace_entry(&trace->communicators, communicator_index);
      call->number = atomic_fetch_add_explicit(&entry->calls, 1, memory_order_relaxed);
    }
  }
  const int32_t row = row_of(site, communicator_index, symbol->function);
  if (row == no_row) return;
  call->row = (uint32_t)row;
  struct trace_thread* const thread = own_thread != NULL ? own_thread : enter_thread();
  call->enter = clock_now();
  atomic_store_explicit(&thread->row, call->row, memory_order_relaxed);
  atomic_store_explicit(&thread->root, call->root, memory_order_relaxed);
  atomic_store_explicit(&thread->number, call->number, memory_order_relaxed);
  atomic_store_explicit(&thread->enter_ns, call->enter, memory_order_relaxed);
  atomic_store_explicit(&thread->bytes, call->bytes, memory_order_relaxed);
  atomic_store_explicit(&thread->signature, call->signature, memory_order_relaxed);
  atomic_store_explicit(&thread->inside, 1, memory_order_release);
  call->symbol = symbol;
}

void recorder_end(struct recorded_call* call) {
  const int64_t now = clock_now();
  if (own_thread != NULL) atomic_store_explicit(&own_thread->inside, 0, memory_order_release);
  /* The child of a fork in a callback, or MPI_Finalize in another thread. */
  if (recorder_is_off()) return;
  count(trace_entry(&trace->rows, call->row), call->bytes, now - call->enter);
  atomic_store_explicit(&trace->last_ns, now, memory_order_relaxed);
  if (!call->has_record) return;
  const struct trace_record record = {.row = call->row,
                                      .root = call->root,
                                      .number = call->number,
                                      .enter_ns = call->enter,
                                      .exit_ns = now,
                                      .bytes = call->bytes,
                                      .signature = call->signature};
  trace_add_record(&record);
}

/* ---- Begin and end -------------------------------------------------------------------------- */

static void stop_in_child(void) { atomic_store(&recorder_state, recorder_off); }

static void write_functions(void) {
  for (unsigned i = 0; i < profile_function_count; ++i) {
    struct trace_function* const entry = trace_append(&trace->functions);
    if (entry == NULL) return;
    entry->name = trace_string(profile_functions[i].name);
    entry->kind = profile_functions[i].kind;
    trace_publish(&trace->functions);
  }
}

/* Bytes for records: SIBYL_PROFILE_MEMORY, or what stands for it where it is no number. */
static uint64_t memory_for_records(void) {
  const char* const text = getenv("SIBYL_PROFILE_MEMORY");
  if (text == NULL || text[0] < '0' || text[0] > '9') return trace_default_memory;
  char* end = NULL;
  const unsigned long long bytes = strtoull(text, &end, 10);
  const unsigned long long most = UINT64_C(1) << 40;
  return *end != '\0' || bytes > most ? (uint64_t)trace_default_memory : bytes;
}

/* Whether there is a trace now. */
static int open_trace(void) {
  const char* const directory = getenv("SIBYL_PROFILE");
  if (directory == NULL || directory[0] == '\0') return 0;
  if (native.flavour == flavour_unknown || !trace_open(directory, memory_for_records())) return 0;
  if (pthread_atfork(NULL, NULL, stop_in_child) != 0) return 0;
  has_thread_key = pthread_key_create(&thread_key, leave_thread) == 0;
  trace->flavour = (uint32_t)native.flavour;
  const ssize_t length = readlink("/proc/self/exe", trace->program, sizeof trace->program - 1);
  trace->program[length > 0 ? length : 0] = '\0';
  char version[8193] = "";
  int bytes = 0;
  if (native.library_version(version, &bytes) == 0) {
    snprintf(trace->mpi_version, sizeof trace->mpi_version, "%.*s",
             (int)sizeof trace->mpi_version - 1, version);
  }
  registry_lock();
  site_add("", 0, "", 0, ""); /* site_unknown */
  write_functions();
  registry_unlock();
  return 1;
}

static int is_initialized(void) {
  int flag = 0;
  return native.initialized(&flag) == 0 && flag;
}

static void note_world(void) {
  word parent = native.comm_null;
  int size = 0, rank = -1;
  if (native.comm_size(native.world, &size) == 0 && native.comm_rank(native.world, &rank) == 0) {
    trace->world_size = size;
    trace->world_rank = rank;
  }
  if (native.comm_get_parent(&parent) == 0 && native_handle(parent) != native.comm_null) {
    atomic_fetch_or(&trace->flags, trace_spawned);
  }
}

/* ---- What it costs -------------------------------------------------------------------------- */

static int compare_numbers(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

/* Begins and ends calls as the entries do, of an allreduce on the world, and forgets them. */
static int64_t measure_overhead(void) {
  enum { batches = 15, calls = 256 };
  unsigned index = 0;
  while (strcmp(profile_symbols[index].name, "MPI_Allreduce") != 0) ++index;
  char numbers[2];
  const word arguments[] = {(word)&numbers[0], (word)&numbers[1], 1,
                            native.byte,       native.op_sum,     native.world};
  int64_t took[batches];
  struct recorded_call call = {.symbol = NULL};
  for (int batch = 0; batch < batches; ++batch) {
    const int64_t begin = clock_now();
    for (int i = 0; i < calls; ++i) {
      recorder_begin(&call, index, arguments, first_caller);
      recorder_leave(&call);
    }
    took[batch] = (clock_now() - begin) / calls;
  }
  if (call.symbol != NULL) {
    remove_row();
    trace_clear_records();
    struct communicator* const world = communicator_of(native.world);
    struct trace_communicator* const entry = trace_entry(&trace->communicators, world->index);
    atomic_store(&entry->calls, 0);
  }
  qsort(took, batches, sizeof *took, compare_numbers);
  return took[batches / 2];
}

void recorder_before_init(const void* caller) {
  int idle = recorder_idle;
  if (!atomic_compare_exchange_strong(&recorder_state, &idle, recorder_starting)) return;
  find_mpi(caller);
  if (recorder_is_off()) return;
  if (!open_trace()) {
    atomic_store(&recorder_state, recorder_off);
    return;
  }
  trace->init_ns = clock_now();
}

void recorder_after_init(void) {
  if (atomic_load(&recorder_state) != recorder_starting) return;
  if (!is_initialized()) {
    atomic_store(&recorder_state, recorder_off);
    return;
  }
  note_world();
  trace->init_ns += clock_pretend(trace->world_rank);
  clock_boot_id(trace->boot_id, sizeof trace->boot_id);
  struct clock_comparison clock = {0, 0};
  if (!clock_compare_at_begin(trace->world_rank, trace->world_size, &clock)) {
    atomic_fetch_or(&trace->flags, trace_clock_unknown);
  }
  trace->offset_begin_ns = clock.offset;
  trace->error_begin_ns = clock.error;
  atomic_store(&recorder_state, recorder_on);
  trace->overhead_ns = measure_overhead();
  trace->begin_ns = clock_now();
  atomic_store_explicit(&trace->last_ns, trace->begin_ns, memory_order_relaxed);
}

/* What the launcher has told this process, by the first of these names. */
static int32_t number_by_launcher(int32_t otherwise, const char* first, const char* second,
                                  const char* third) {
  const char* text = getenv(first);
  if (text == NULL) text = getenv(second);
  if (text == NULL) text = getenv(third);
  return text == NULL ? otherwise : (int32_t)strtol(text, NULL, 10);
}

/* A program that has only sessions, or whose MPI_Init went past this library. The other ranks may
 * not have come here, so there is no message. */
static void begin_without_init(void) {
  int idle = recorder_idle;
  if (!atomic_compare_exchange_strong(&recorder_state, &idle, recorder_starting)) return;
  if (native.flavour == flavour_unknown || !open_trace()) {
    atomic_store(&recorder_state, recorder_off);
    return;
  }
  clock_boot_id(trace->boot_id, sizeof trace->boot_id);
  trace->init_ns = trace->begin_ns = clock_now();
  if (is_initialized()) {
    note_world();
  } else {
    atomic_fetch_or(&trace->flags, trace_sessions_only);
    native.has_world = 0;
    trace->world_rank = number_by_launcher(-1, "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK");
    trace->world_size = number_by_launcher(0, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE");
  }
  atomic_fetch_or(&trace->flags, trace_clock_unknown);
  atomic_store(&recorder_state, recorder_on);
}

void recorder_before_finalize(void) {
  int on = recorder_on;
  if (!atomic_compare_exchange_strong(&recorder_state, &on, recorder_off)) return;
  const int64_t now = clock_now();
  struct clock_comparison clock = {0, 0};
  if (!(atomic_load(&trace->flags) & trace_clock_unknown) &&
      !clock_compare_at_end(trace->world_rank, trace->world_size, &clock)) {
    atomic_fetch_or(&trace->flags, trace_clock_unknown);
  }
  trace->offset_end_ns = clock.offset;
  trace->error_end_ns = clock.error;
  atomic_store_explicit(&trace->last_ns, now, memory_order_relaxed);
  trace->end_ns = now;
}

/* Where no trace is asked for, entries forward from the first call on. */
__attribute__((constructor)) static void look_at_environment(void) {
  const char* const directory = getenv("SIBYL_PROFILE");
  if (directory == NULL || directory[0] == '\0') atomic_store(&recorder_state, recorder_off);
}
