/* The recorder: what it notes of each call; see recorder.h.
 *
 * A call costs two readings of the clock, three lookups in tables that are read without locks
 * (site, communicator, row), one lock, and the lines of the trace that it writes. Who may write
 * what: records, and what rows of calls with records add up, whoever holds `recording`; what other
 * rows add up, whoever holds `counting`; all that is made once (sites, communicators, rows,
 * strings), whoever holds the registry's lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "native.h"
#include "rows.h"
#include "sites.h"
#include "threads.h"
#include "trace.h"

atomic_int recorder_state = recorder_idle;

/* ---- Sibyl, where it serves the program ------------------------------------------------------ */

static _Thread_local __attribute__((tls_model("initial-exec"))) const void* place;
static _Thread_local __attribute__((tls_model("initial-exec"))) int served;

/* Called by Sibyl when a call of this thread was not the MPI library's. */
__attribute__((visibility("default"))) void sibyl_profile_served(void);
void sibyl_profile_served(void) { served = 1; }
/* The address to which the call that this thread is in returns, in the program. */
__attribute__((visibility("default"))) const void* sibyl_profile_place(void);
const void* sibyl_profile_place(void) { return place; }

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

void recorder_find_mpi(const void* caller) {
  const void* nobody = NULL;
  atomic_compare_exchange_strong(&first_caller, &nobody, caller);
  pthread_once(&once, find_native);
}

void* recorder_resolve(unsigned index, const void* caller) {
  const char* const name = profile_symbols[index].name;
  const int fortran = (profile_symbols[index].form & form_fortran) != 0;
  const int of_mpi = !fortran || sibyl_preload_is_of_mpi(name, caller);
  if (of_mpi) recorder_find_mpi(caller);
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
  if (of_mpi) atomic_store_explicit(&recorder_slots[index], target, memory_order_release);
  return target;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

enum { unfinished = -1 };

/* A communicator has records or has not, and so each row has one lock. While `recording` is held a
 * table may be made larger. */
static atomic_flag recording = ATOMIC_FLAG_INIT, counting = ATOMIC_FLAG_INIT;

/* Yielding gives the processor to nobody of a lower class, as who holds a row may be. */
static void wait_for(atomic_flag* row) {
  enum { yields = 100 };
  const struct timespec a_little = {0, 20000};
  for (int turn = 0; atomic_flag_test_and_set_explicit(row, memory_order_acquire); ++turn) {
    if (turn < yields) {
      sched_yield();
    } else {
      nanosleep(&a_little, NULL);
    }
  }
}

/* How many calls a communicator has had, with `more` of them. Its threads take turns in calling
 * collectives on it, as MPI has it, so that nobody else adds meanwhile; an atomic addition takes
 * 9 ns. A call is counted at its end, to which one that an error handler leaves never comes. */
static uint64_t count_on(const struct recorded_call* call, uint64_t more) {
  struct trace_communicator* const entry = trace_entry(&trace->communicators, call->communicator);
  const uint64_t calls = atomic_load_explicit(&entry->calls, memory_order_relaxed) + more;
  if (more != 0) atomic_store_explicit(&entry->calls, calls, memory_order_relaxed);
  return calls;
}

/* Whether MPI has refused the collective, so that this rank has not taken part: the others' next
 * call is still to be made here, and has the number of this one. (A message that was too long has
 * been received.) */
static int was_refused(const struct recorded_call* call) {
  if (call->error == 0 || call->communicator == no_communicator) return 0;
  int error_class = 0;
  return call->error == unfinished || native.error_class(call->error, &error_class) != 0 ||
         error_class != native.error_truncate;
}

/* mpi4py sums objects at all ranks by messages, and then a broadcast, over a communicator of its
 * own, never the world: a rank has come to its line with the first message that it receives there.
 * Without that the rank which collects the sum would be late for the broadcast, and not the one
 * that it waits for. A line that forwards a program's messages and broadcasts looks alike on other
 * communicators.
 */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  int32_t site; /* 0: no message since the last collective */
  word communicator;
  int64_t enter;
} messages;

static int64_t arrival_at(const struct profile_symbol* symbol, const word* arguments, int32_t site,
                          int64_t now) {
  const struct trace_site* const entry = trace_entry(&trace->sites, (uint32_t)site);
  if (__builtin_expect(entry->file == 0, 1)) return now; /* not of Python */
  const struct profile_function* const function = &profile_functions[symbol->function];
  const word communicator = function->comm >= 0 ? call_communicator(symbol, arguments) : 0;
  const int led = messages.site == site && messages.communicator == communicator &&
                  communicator != native.world && communicator != native.self &&
                  (function->kind == kind_waits || strcmp(function->name, "MPI_Bcast") == 0);
  const int64_t arrival = led ? messages.enter : now;
  messages.site = function->kind == kind_waits ? site : 0;
  messages.communicator = communicator;
  messages.enter = arrival;
  return arrival;
}

void recorder_begin(struct recorded_call* call, unsigned index, const word* arguments,
                    const void* caller) {
  const struct profile_symbol* const symbol = &profile_symbols[index];
  const struct profile_function* const function = &profile_functions[symbol->function];
  call->symbol = NULL;
  place = caller;
  if (__builtin_expect(atomic_load_explicit(&recorder_state, memory_order_acquire) != recorder_on,
                       0)) {
    if (function->kind == kind_collective) recorder_begin_without_init();
    if (atomic_load(&recorder_state) != recorder_on) return;
  }
  const int32_t site = site_of(caller);
  if (site == site_inside_mpi) return;
  call->communicator = no_communicator;
  call->error = unfinished;
  call->root = -1;
  call->number = call->bytes = call->signature = 0;
  call->has_record = 0;
  if (function->kind == kind_collective) {
    struct communicator* const communicator = communicator_of(call_communicator(symbol, arguments));
    if (communicator == NULL) return;
    call->root = call_root(symbol, arguments);
    call->bytes = call_bytes(symbol, arguments, communicator);
    call->signature = call_signature(symbol, arguments, communicator, call->root, call->bytes);
    call->has_record = communicator->has_records;
    call->communicator = communicator->index;
    if (call->communicator != no_communicator) {
      call->number = count_on(call, 0);
    }
  }
  const int32_t row = row_of(site, call->communicator, symbol->function);
  call->row = row;
  served = 0;
  if (__builtin_expect(row == no_row, 0)) { /* it counts all the same, as on the other ranks */
    call->symbol = symbol;
    return;
  }
  struct trace_thread* const thread = thread_own();
  call->enter = clock_now();
  call->arrival = arrival_at(symbol, arguments, site, call->enter);
  atomic_store_explicit(&thread->row, (uint32_t)row, memory_order_relaxed);
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
  /* The child of a fork in a callback, or MPI_Finalize in another thread. */
  if (recorder_is_off()) return;
  atomic_store_explicit(&thread_own()->inside, 0, memory_order_release);
  if (__builtin_expect(was_refused(call), 0)) return;
  if (call->communicator != no_communicator) count_on(call, 1);
  if (__builtin_expect(call->row == no_row, 0)) return;
  const uint64_t by_sibyl = served ? trace_by_sibyl : 0;
  const struct trace_record record = {.row = (uint32_t)call->row,
                                      .root = call->root,
                                      .number = call->number,
                                      .enter_ns = call->arrival,
                                      .exit_ns = now,
                                      .bytes = call->bytes | by_sibyl,
                                      .signature = call->signature};
  atomic_flag* const lock = call->has_record ? &recording : &counting;
  wait_for(lock);
  row_count((uint32_t)call->row, call->bytes, now - call->enter);
  atomic_store_explicit(&trace->last_ns, now, memory_order_relaxed);
  if (call->has_record) trace_add_record(&record);
  atomic_flag_clear_explicit(lock, memory_order_release);
}
