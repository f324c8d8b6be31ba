/* Places of threads in the trace; see threads.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"
#include "sites.h"

/* Of threads for which the trace has no place. */
static __thread struct trace_thread nowhere;
static __thread struct trace_thread* own;
static pthread_key_t key;
static int has_key;
static int is_free[trace_most_threads];

static void leave(void* thread) {
  struct trace_thread* const left = thread;
  if (recorder_is_off())
    return; /* this may be the child of a fork, and the registry locked for good */
  atomic_store_explicit(&left->inside, 0, memory_order_release);
  own = NULL;
  if (left == &nowhere) return;
  const struct trace_thread* const first = trace_entry(&trace->threads, 0);
  registry_lock();
  is_free[left - first] = 1;
  registry_unlock();
}

static struct trace_thread* enter(void) {
  struct trace_thread* found = NULL;
  registry_lock();
  for (int i = 0; i < trace_most_threads && found == NULL; ++i) {
    if (!is_free[i]) continue;
    is_free[i] = 0;
    found = trace_entry(&trace->threads, (uint64_t)i);
  }
  if (found == NULL) {
    found = trace_append(&trace->threads);
    if (found != NULL) trace_publish(&trace->threads);
  }
  registry_unlock();
  if (found == NULL) found = &nowhere;
  atomic_store_explicit(&found->tid, (int32_t)syscall(SYS_gettid), memory_order_relaxed);
  own = found;
  /* Where that fails the place is never given back. */
  if (has_key) (void)pthread_setspecific(key, found);
  return found;
}

void threads_begin(void) { has_key = pthread_key_create(&key, leave) == 0; }

struct trace_thread* thread_own(void) { return own != NULL ? own : enter(); }
