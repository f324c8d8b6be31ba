/* What the generated entries (generate.py) call around a function of the MPI library. */
#ifndef SIBYL_PROFILE_RECORDER_H
#define SIBYL_PROFILE_RECORDER_H

#include <stdatomic.h>
#include <stdint.h>

#include "call.h"
#include "preload/shim.h"

/* idle: before MPI_Init; a program with sessions alone stays there until its first collective.
 * off: nothing is asked for, or nothing can be had, or MPI_Finalize is reached, or this is a child
 * of fork. */
enum recorder_state { recorder_idle, recorder_starting, recorder_on, recorder_off };
extern atomic_int recorder_state;

/* A call under way. */
struct recorded_call {
  const struct profile_symbol* symbol; /* null: it is not recorded */
  int32_t row;                         /* no_row: there is no room for it */
  int32_t root;
  int has_record;
  int error; /* what MPI said of it; as long as it has said nothing, an error */
  uint32_t communicator;
  int64_t enter, arrival; /* the latter is earlier where messages have led to the call */
  uint64_t number, bytes, signature;
};

/* The function behind each entry; null until the entry's first call. */
extern _Atomic(void*) recorder_slots[];
void* recorder_resolve(unsigned index, const void* caller);
/* Generated: a `_c` function by the one with int counts; null for every other symbol. */
void* recorder_fallback(const char* symbol);

void recorder_begin(struct recorded_call* call, unsigned index, const word* arguments,
                    const void* caller);
void recorder_end(struct recorded_call* call);

/* Finds the MPI library that the caller uses, once. */
void recorder_find_mpi(const void* caller);
/* Before a collective, where there has been no MPI_Init. */
void recorder_begin_without_init(void);
/* Around MPI_Init, in any form. */
void recorder_before_init(const void* caller);
void recorder_after_init(void);
void recorder_before_finalize(void);
/* Around sessions; `session` is where the handle lies. */
void recorder_after_session_init(unsigned index, word session);
void recorder_before_session_finalize(void);

static inline void* recorder_target(unsigned index, const void* caller) {
  void* target = atomic_load_explicit(&recorder_slots[index], memory_order_acquire);
  if (__builtin_expect(target == 0, 0)) target = recorder_resolve(index, caller);
  return target;
}

/* Whether what recorder_target has found is no function of MPI's, but has the name of one of
 * Fortran's: such ones are not kept. */
static inline int recorder_is_foreign(unsigned index) {
  return atomic_load_explicit(&recorder_slots[index], memory_order_relaxed) == 0;
}

static inline int recorder_is_off(void) {
  return atomic_load_explicit(&recorder_state, memory_order_acquire) == recorder_off;
}

/* Called as the call leaves its scope, by an exception of an error handler's too. */
static inline void recorder_leave(struct recorded_call* call) {
  if (call->symbol != 0) recorder_end(call);
}

/* clock.c: this process's clock against rank 0's of the world. All ranks call it. */
struct clock_comparison {
  int64_t offset; /* to be added to an own time */
  int64_t error;
  int64_t at; /* when that was so, on the own clock; 0: there was nothing to compare */
};
int64_t clock_now(void);
/* What tells machines apart that have clocks of their own. */
void clock_boot_id(char* text, int bytes);
/* SIBYL_TEST_CLOCKS: by how much this rank's clock is said to be ahead from now on. */
int64_t clock_pretend(int rank);
/* In MPI_Init and in MPI_Finalize; 0 where the clocks could not be compared: on all ranks where one
 * has called clock_leave_comparison instead of the first. */
int clock_compare_at_begin(int rank, int ranks, struct clock_comparison* result);
void clock_leave_comparison(int ranks);
int clock_compare_at_end(int rank, int ranks, struct clock_comparison* result);

#endif
