/* When the recorder runs: from MPI_Init, or the first collective of a program that has none, to
 * MPI_Finalize; see recorder.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicators.h"
#include "hash.h"
#include "native.h"
#include "recorder.h"
#include "rows.h"
#include "sites.h"
#include "threads.h"
#include "trace.h"

static void stop_in_child(void) { atomic_store(&recorder_state, recorder_off); }

/* What every row may name: the functions, and the site that is not known. */
static int write_what_rows_name(void) {
  registry_lock();
  site_add("", 0, "", 0, ""); /* site_unknown */
  unsigned written = 0;
  for (; written < profile_function_count; ++written) {
    struct trace_function* const entry = trace_append(&trace->functions);
    if (entry == NULL) break;
    entry->name = trace_string(profile_functions[written].name);
    entry->kind = profile_functions[written].kind;
    trace_publish(&trace->functions);
  }
  registry_unlock();
  const uint32_t flags = atomic_load_explicit(&trace->flags, memory_order_relaxed);
  return written == profile_function_count && (flags & trace_overflowed) == 0;
}

/* Bytes for records: SIBYL_PROFILE_MEMORY, or what stands for it where it is no number. */
static uint64_t memory_for_records(void) {
  const char* const text = secure_getenv("SIBYL_PROFILE_MEMORY");
  if (text == NULL || text[0] < '0' || text[0] > '9') return trace_default_memory;
  char* end = NULL;
  const unsigned long long bytes = strtoull(text, &end, 10);
  const unsigned long long most = UINT64_C(1) << 40;
  return *end != '\0' || bytes > most ? (uint64_t)trace_default_memory : bytes;
}

/* The first line up to a comma: "Open MPI v4.1.4", "MPICH Version: 4.0.2". */
static void note_mpi_version(void) {
  char version[8193] = "";
  int length = 0;
  if (native.library_version(version, &length) != 0) return;
  version[strcspn(version, "\n,")] = '\0';
  for (char* c = version; *c != '\0'; ++c) {
    if (*c == '\t') *c = ' ';
  }
  snprintf(trace->mpi_version, sizeof trace->mpi_version, "%.*s",
           (int)sizeof trace->mpi_version - 1, version);
}

/* What PMIx calls the processes that were started together; other launchers have no name for them
 * that is alike on all hosts. */
static uint64_t own_job(void) {
  const char* const name = getenv("PMIX_NAMESPACE");
  return name == NULL ? 0 : hash_of(name);
}

/* Whether there is a trace now. */
static int open_trace(void) {
  const char* const directory = secure_getenv("SIBYL_PROFILE");
  if (directory == NULL || directory[0] == '\0') return 0;
  if (native.flavour == flavour_unknown || pthread_atfork(NULL, NULL, stop_in_child) != 0) return 0;
  if (!trace_open(directory, memory_for_records())) return 0;
  if (!write_what_rows_name()) {
    trace_abandon();
    return 0;
  }
  threads_begin();
  trace->flavour = (uint32_t)native.flavour;
  trace->job = own_job();
  const ssize_t length = readlink("/proc/self/exe", trace->program, sizeof trace->program - 1);
  trace->program[length > 0 ? length : 0] = '\0';
  note_mpi_version();
  return 1;
}

static int is_initialized(void) {
  int flag = 0;
  return native.initialized(&flag) == 0 && flag;
}

static int world_has_begun; /* there was an MPI_Init */

static void note_world(void) {
  word parent = native.comm_null, group = 0;
  int size = 0, rank = -1;
  world_has_begun = 1;
  if (native.comm_size(native.world, &size) == 0 && native.comm_rank(native.world, &rank) == 0) {
    trace->world_size = size;
    trace->world_rank = rank;
  }
  if (native.comm_get_parent(&parent) == 0 && native_handle(parent) != native.comm_null) {
    atomic_fetch_or(&trace->flags, trace_spawned);
  }
  communicators_begin(native.comm_group(native.world, &group) == 0 ? group : 0);
}

/* ---- What it costs -------------------------------------------------------------------------- */

static int compare_numbers(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

/* Where the file system had no room for communicators, the world has no entry either. */
static void forget_calls_on_world(void) {
  const struct communicator* const world = communicator_of(native.world);
  if (world->index == no_communicator) return;
  struct trace_communicator* const entry = trace_entry(&trace->communicators, world->index);
  atomic_store(&entry->calls, 0);
}

/* Begins and ends calls as the entries do, of an allreduce on the world, and forgets them. They
 * come from nowhere: what Python adds is measured at its first line, by python.c. */
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
      recorder_begin(&call, index, arguments, NULL);
      call.error = 0;
      recorder_leave(&call);
    }
    took[batch] = (clock_now() - begin) / calls;
  }
  if (call.symbol != NULL) {
    if (call.row != no_row) {
      row_remove_only();
      trace_clear_records();
    }
    forget_calls_on_world();
  }
  qsort(took, batches, sizeof *took, compare_numbers);
  return took[batches / 2];
}

void recorder_before_init(const void* caller) {
  int idle = recorder_idle;
  if (!atomic_compare_exchange_strong(&recorder_state, &idle, recorder_starting)) return;
  recorder_find_mpi(caller);
  if (recorder_is_off()) return;
  if (open_trace()) trace->init_ns = clock_now();
}

/* Without a trace of its own a rank still takes part in what the others, which may have one, do in
 * MPI_Init: its host's directory or disk may be another one. */
static void leave_comparison(void) {
  int size = 0;
  if (native.flavour != flavour_unknown && native.comm_size(native.world, &size) == 0) {
    clock_leave_comparison(size);
  }
}

/* A session has had collectives before, on some ranks alone, it may be: the others are not held up,
 * and no clocks compared. */
static void begin_world_beside_sessions(void) {
  leave_comparison();
  note_world();
  communicators_follow_world();
  atomic_fetch_and(&trace->flags, ~(uint32_t)trace_sessions_only);
  trace->end_ns = 0;
}

void recorder_after_init(void) {
  const int state = atomic_load(&recorder_state);
  if (state == recorder_on && !world_has_begun && is_initialized()) begin_world_beside_sessions();
  if (state != recorder_starting) return;
  const int initialized = is_initialized();
  if (!initialized || trace == NULL) {
    if (initialized) leave_comparison();
    atomic_store(&recorder_state, recorder_off);
    return;
  }
  note_world();
  trace->init_ns += clock_pretend(trace->world_rank);
  clock_boot_id(trace->boot_id, sizeof trace->boot_id);
  struct clock_comparison clock = {0, 0, 0};
  if (!clock_compare_at_begin(trace->world_rank, trace->world_size, &clock)) {
    atomic_fetch_or(&trace->flags, trace_clock_unknown);
  }
  communicators_follow_world();
  trace->offset_begin_ns = clock.offset;
  trace->error_begin_ns = clock.error;
  trace->compared_begin_ns = clock.at;
  atomic_store(&recorder_state, recorder_on);
  trace->overhead_ns = measure_overhead();
  trace->begin_ns = clock_now();
  atomic_store_explicit(&trace->last_ns, trace->begin_ns, memory_order_relaxed);
}

/* ---- Sessions ------------------------------------------------------------------------------- */

/* In the process set of all processes that the launcher has started; see
 * recorder_begin_without_init. */
static int session_rank = -1, session_size;
static atomic_int sessions;

static word session_at(unsigned index, word place) {
  const int is_number = (profile_symbols[index].form & form_fortran) != 0;
  if (is_number && native.session_f2c != NULL && native.flavour == flavour_openmpi) {
    return native.session_f2c(*(const int*)place);
  }
  return native.flavour == flavour_mpich ? *(const uint32_t*)place : *(const word*)place;
}

void recorder_after_session_init(unsigned index, word session) {
  if (recorder_is_off() || native.group_from_session == NULL || world_has_begun) return;
  if (atomic_fetch_add(&sessions, 1) > 0) return;
  if (trace != NULL) trace->end_ns = 0;
  if (session == 0) return;
  word group = 0;
  if (native.group_from_session(session_at(index, session), "mpi://WORLD", &group) != 0) group = 0;
  if (group != 0 && (native.group_rank(group, &session_rank) != 0 ||
                     native.group_size(group, &session_size) != 0)) {
    session_rank = -1;
  }
  communicators_begin(group);
}

/* Before the last of them ends, the library may forget all. */
void recorder_before_session_finalize(void) {
  if (recorder_is_off() || world_has_begun || atomic_load(&sessions) == 0) return;
  if (atomic_fetch_sub(&sessions, 1) > 1) return;
  communicators_end();
  if (trace != NULL) trace->end_ns = clock_now(); /* unless another one begins */
}

static void begin_without_init(void) {
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
    trace->world_rank = session_rank;
    trace->world_size = session_size;
  }
  atomic_fetch_or(&trace->flags, trace_clock_unknown);
  atomic_store(&recorder_state, recorder_on);
}

/* A program that has only sessions, or whose MPI_Init went past this library. The other ranks may
 * not have come here, so there is no message. Threads that come meanwhile wait, or their first
 * calls would not be counted. */
void recorder_begin_without_init(void) {
  static atomic_int beginning;
  int idle = recorder_idle;
  atomic_fetch_add(&beginning, 1);
  if (atomic_compare_exchange_strong(&recorder_state, &idle, recorder_starting)) {
    begin_without_init();
  }
  atomic_fetch_sub(&beginning, 1);
  while (atomic_load(&beginning) > 0) sched_yield();
}

void recorder_before_finalize(void) {
  int on = recorder_on;
  if (!atomic_compare_exchange_strong(&recorder_state, &on, recorder_off)) return;
  const int64_t now = clock_now();
  struct clock_comparison clock = {0, 0, 0};
  if (!(atomic_load(&trace->flags) & trace_clock_unknown) &&
      !clock_compare_at_end(trace->world_rank, trace->world_size, &clock)) {
    atomic_fetch_or(&trace->flags, trace_clock_unknown);
  }
  trace->offset_end_ns = clock.offset;
  trace->error_end_ns = clock.error;
  trace->compared_end_ns = clock.at;
  communicators_end();
  atomic_store_explicit(&trace->last_ns, now, memory_order_relaxed);
  trace->end_ns = now;
}

/* Where no trace is asked for, entries forward from the first call on. */
__attribute__((constructor)) static void look_at_environment(void) {
  const char* const directory = secure_getenv("SIBYL_PROFILE");
  if (directory == NULL || directory[0] == '\0') atomic_store(&recorder_state, recorder_off);
}
