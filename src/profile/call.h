/* What the arguments of a call say, in each of the forms in which MPI's functions are called. */
#ifndef SIBYL_PROFILE_CALL_H
#define SIBYL_PROFILE_CALL_H

#include <stdint.h>

#include "communicators.h"
#include "preload/shim.h"

/* How a symbol takes its arguments: C by value; Fortran by reference, handles as numbers; in
 * MPICH's mpi_f08 buffers by descriptors. `large`: counts have 64 bits. */
enum profile_form { form_fortran = 1, form_large = 2, form_descriptors = 4 };

enum profile_kind {
  kind_collective = 1,
  kind_waits,
  kind_begins,
  kind_ends,
  kind_session_begins,
  kind_session_ends
};
enum profile_amount { amount_none, amount_one, amount_ranks, amount_destinations };
/* What MPI wants to be alike on all ranks: how much each gives; each block that is received. */
enum profile_equal { equal_nothing, equal_bytes, equal_blocks };

/* Places among the arguments; -1: there is none. */
struct profile_side {
  int8_t buffer, count, type;
  uint8_t counts_are_array, types_are_array;
};

struct profile_function {
  const char* name;
  uint8_t kind, amount;
  uint8_t own;   /* which side says how much: 0 send, 1 receive */
  uint8_t equal; /* profile_equal */
  int8_t comm, root, op;
  struct profile_side sides[2];
};

struct profile_symbol {
  const char* name;
  uint8_t function;
  uint8_t form;
};

/* Generated. */
extern const struct profile_function profile_functions[];
extern const struct profile_symbol profile_symbols[];
extern const unsigned profile_function_count;

word call_communicator(const struct profile_symbol* symbol, const word* arguments);
int32_t call_root(const struct profile_symbol* symbol, const word* arguments);
/* What this rank gives, in bytes; between two groups nothing is looked at, and it is 0. */
uint64_t call_bytes(const struct profile_symbol* symbol, const word* arguments,
                    struct communicator* communicator);
/* A hash of what MPI wants to be the same on all ranks. */
uint64_t call_signature(const struct profile_symbol* symbol, const word* arguments,
                        const struct communicator* communicator, int32_t root, uint64_t bytes);

#endif
