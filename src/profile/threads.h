/* What each thread is doing now, for whoever looks at the trace of a program that hangs. A thread
 * that ends gives its place to the next.
 */
#ifndef SIBYL_PROFILE_THREADS_H
#define SIBYL_PROFILE_THREADS_H

#include "trace.h"

/* Once, when there is a trace. */
void threads_begin(void);
/* This thread's place; one outside the trace where there are too many threads. */
struct trace_thread* thread_own(void);

#endif
