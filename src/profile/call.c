/* Reads the arguments of calls; see call.h. Arguments that MPI does not look at here are not looked
 * at either: they may be anything. */
#include "call.h"

#include <stdatomic.h>
#include <stddef.h>

#include "native.h"
#include "sites.h"

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

/* Sizes of predefined types, which are never freed: MPI looks longer, and MPICH takes a lock where
 * a program has threads. An entry is written once, its type last. */
enum { most_named = 128 };
static struct {
  _Atomic word type; /* 0: free */
  _Atomic uint64_t size;
} named[most_named];

static int is_named(word type) {
  int integers = 1, addresses = 1, types = 1, combiner;
  return native.type_envelope(type, &integers, &addresses, &types, &combiner) == 0 &&
         integers == 0 && addresses == 0 && types == 0;
}

static uint64_t look_up_size(word type, unsigned place) {
  int64_t size = 0;
  if (type == native.type_null || native.type_size(type, &size) != 0 || size < 0) return 0;
  if (type != 0 && is_named(type)) {
    registry_lock();
    if (atomic_load_explicit(&named[place].type, memory_order_relaxed) == 0) {
      atomic_store_explicit(&named[place].size, (uint64_t)size, memory_order_relaxed);
      atomic_store_explicit(&named[place].type, type, memory_order_release);
    }
    registry_unlock();
  }
  return (uint64_t)size;
}

/* Of types that share a place one is known. */
static uint64_t size_of_type(word type) {
  const unsigned place = (unsigned)(type * UINT64_C(0x9e3779b97f4a7c15) >> 40) % most_named;
  if (atomic_load_explicit(&named[place].type, memory_order_acquire) == type && type != 0) {
    return atomic_load_explicit(&named[place].size, memory_order_relaxed);
  }
  return look_up_size(type, place);
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
  if (counts == 0 || types == 0) return 0; /* MPI will say so */
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
  enum { predefined_by_openmpi = 15, predefined_by_abi = 0x40, programs_own = 0xffff };
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
  if (arguments[side->count] == 0) return 0;
  for (int i = 0; i < blocks; ++i) {
    sum = sum * 31 + (uint64_t)count_at(symbol, arguments[side->count], i);
  }
  return sum * size_of_type(plain_type(symbol, arguments[side->type]));
}

uint64_t call_signature(const struct profile_symbol* symbol, const word* arguments,
                        const struct communicator* communicator, int32_t root, uint64_t bytes) {
  const struct profile_function* const function = function_of(symbol);
  const uint64_t what = symbol->function | (uint64_t)(uint32_t)root << 8;
  if (function->equal == equal_nothing || communicator->is_inter) return mix(1, what);
  if (function->equal == equal_blocks) {
    bytes = blocks_of(symbol, arguments, &function->sides[1], communicator->size);
  }
  const uint64_t op = function->op < 0 ? 0 : operator_of(symbol, arguments[function->op]) + 1;
  return mix(mix(1, what | op << 40), bytes);
}
