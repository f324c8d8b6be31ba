/* Reads the arguments of calls; see call.h. Arguments that MPI does not look at here are not looked
 * at either: they may be anything. */
#include "call.h"

#include <stddef.h>

#include "native.h"

static const struct profile_function* function_of(const struct profile_symbol* symbol) {
  return &profile_functions[symbol->function];
}

word call_communicator(const struct profile_symbol* symbol, const word* arguments) {
  const word argument = arguments[function_of(symbol)->comm];
  if (!(symbol->form & form_fortran)) return native_handle(argument);
  const int number = *(const int*)argument;
  return native.comm_f2c != NULL ? native.comm_f2c(number) : (uint32_t)number;
}

int32_t call_root(const struct profile_symbol* symbol, const word* arguments) {
  const int8_t place = function_of(symbol)->root;
  if (place < 0) return -1;
  return symbol->form & form_fortran ? *(const int32_t*)arguments[place]
                                     : (int32_t)arguments[place];
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static int is_in_place(const struct profile_symbol* symbol, word buffer) {
  const int openmpi = native.flavour == flavour_openmpi;
  if (!(symbol->form & form_fortran))
    return buffer == (native.flavour == flavour_mpich ? (word)-1 : (word)1);
  if (symbol->form & form_descriptors) { /* its first word is the buffer's address */
    return buffer != 0 && native.fortran08_in_place != 0 &&
           *(const word*)buffer == native.fortran08_in_place;
  }
  if (!openmpi) {
    return native.fortran_in_place_of_mpich != NULL && buffer == *native.fortran_in_place_of_mpich;
  }
  for (int i = 0; i < 4; ++i) {
    if (native.fortran_in_place[i] != NULL && buffer == (word)native.fortran_in_place[i]) return 1;
  }
  return 0;
}

static int64_t count_at(const struct profile_symbol* symbol, word array, int index) {
  return symbol->form & form_large ? ((const int64_t*)array)[index]
                                   : ((const int32_t*)array)[index];
}

static int64_t plain_count(const struct profile_symbol* symbol, word count) {
  if (symbol->form & form_fortran) return count_at(symbol, count, 0);
  return symbol->form & form_large ? (int64_t)count : (int32_t)count;
}

static uint64_t size_of_type(word type) {
  if (native.flavour == flavour_mpich && type >> 24 == 0x4c) {
    return type >> 8 & 0xff; /* predefined: its handle says it, and no lock is taken for it */
  }
  int64_t size = 0;
  if (type == native.type_null || native.type_size(type, &size) != 0 || size < 0) return 0;
  return (uint64_t)size;
}

static word fortran_type(int number) {
  return native.type_f2c != NULL ? native.type_f2c(number) : (uint32_t)number;
}

static word type_at(const struct profile_symbol* symbol, word types, int index) {
  if (symbol->form & form_fortran) return fortran_type(((const int*)types)[index]);
  return native.flavour == flavour_mpich ? ((const uint32_t*)types)[index]
                                         : ((const word*)types)[index];
}

static word plain_type(const struct profile_symbol* symbol, word type) {
  return symbol->form & form_fortran ? fortran_type(*(const int*)type) : native_handle(type);
}

static uint64_t product(int64_t count, uint64_t size) {
  return count <= 0 ? 0 : (uint64_t)count * size;
}

static uint64_t bytes_of_side(const struct profile_symbol* symbol, const word* arguments,
                              const struct profile_side* side, int blocks, int own) {
  if (!side->counts_are_array) {
    const int64_t count = plain_count(symbol, arguments[side->count]);
    const uint64_t size = size_of_type(plain_type(symbol, arguments[side->type]));
    return product(count, size) * (uint64_t)(own >= 0 ? 1 : blocks);
  }
  const word counts = arguments[side->count];
  const word types = arguments[side->type];
  const uint64_t size = side->types_are_array ? 0 : size_of_type(plain_type(symbol, types));
  const int first = own >= 0 ? own : 0, last = own >= 0 ? own + 1 : blocks;
  uint64_t bytes = 0;
  for (int i = first; i < last; ++i) {
    const int64_t count = count_at(symbol, counts, i);
    if (count <= 0) continue;
    bytes += product(count, side->types_are_array ? size_of_type(type_at(symbol, types, i)) : size);
  }
  return bytes;
}

uint64_t call_bytes(const struct profile_symbol* symbol, const word* arguments,
                    struct communicator* communicator) {
  const struct profile_function* const function = function_of(symbol);
  if (function->amount == amount_none || communicator->is_inter) return 0;
  const struct profile_side* side = &function->sides[function->own];
  const struct profile_side* const other = &function->sides[!function->own];
  /* Reductions have one count and one type, whatever lies where. */
  if (other->count >= 0 && side->buffer >= 0 && is_in_place(symbol, arguments[side->buffer])) {
    side = other;
  }
  int blocks = communicator->size;
  if (function->amount == amount_destinations) {
    blocks = communicator_destinations(communicator, call_communicator(symbol, arguments));
  }
  return bytes_of_side(symbol, arguments, side, blocks,
                       function->amount == amount_one ? communicator->rank : -1);
}

/* ---- Signature ------------------------------------------------------------------------------ */

/* The number of a predefined operator, the same in all processes; one for all others. */
static uint64_t operator_of(const struct profile_symbol* symbol, word op) {
  enum { predefined_by_openmpi = 16, predefined_by_abi = 0x40, programs_own = 0xffff };
  const int fortran = symbol->form & form_fortran;
  if (native.flavour == flavour_mpich) {
    const uint32_t handle = fortran ? *(const uint32_t*)op : (uint32_t)op;
    return handle >> 24 == 0x58 ? handle & 0xff : programs_own;
  }
  const int number = fortran ? *(const int*)op : native.op_c2f(op);
  const int predefined = native.flavour == flavour_abi ? predefined_by_abi : predefined_by_openmpi;
  return number < predefined ? (uint64_t)number : programs_own;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/* A number for the blocks that are received from all ranks, by their sizes and their order. */
static uint64_t blocks_of(const struct profile_symbol* symbol, const word* arguments,
                          const struct profile_side* side, int blocks) {
  uint64_t sum = 0;
  for (int i = 0; i < blocks; ++i) {
    sum = sum * 31 + (uint64_t)count_at(symbol, arguments[side->count], i);
  }
  return sum * size_of_type(plain_type(symbol, arguments[side->type]));
}

uint64_t call_signature(const struct profile_symbol* symbol, const word* arguments,
                        const struct communicator* communicator, int32_t root, uint64_t bytes) {
  const struct profile_function* const function = function_of(symbol);
  uint64_t hash = mix(mix(1, symbol->function), (uint32_t)root);
  if (function->equal == equal_nothing || communicator->is_inter) return hash;
  if (function->equal == equal_blocks) {
    bytes = blocks_of(symbol, arguments, &function->sides[1], communicator->size);
  }
  hash = mix(hash, bytes);
  return function->op < 0 ? hash : mix(hash, operator_of(symbol, arguments[function->op]));
}
