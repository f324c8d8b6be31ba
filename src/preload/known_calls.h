/* Calls that are known to be the MPI library's, which go there from the shim's entry.
 *
 * A call that Sibyl leaves to the library, and will whenever it comes again with these arguments
 * (communicator/settled_calls.hpp), had to be looked up by the implementation: some forty lines of
 * code on eleven pages, which a program that works on data of its own between two calls has driven
 * out of the processor's caches, so that a call of 20 us took three more. Here it is one line of
 * one page, and a jump.
 *
 * A call is known by its entry and by all of its arguments that had a part in the decision. Of
 * buffers that is which are null; one of MPI's constants, or the same buffer twice, is not known
 * here. Of irregular blocks with a root, and of an all-to-all's, it is which arrays there are,
 * since the library has them whatever their sizes are; a rank without a buffer for its own block is
 * known by how long that is. Of those whose sizes all ranks know it is how long all of them are and
 * the longest one (sibyl_preload_known_sizes). Arguments are compared as words, in as many bits as
 * an int or the MPI's handles have: what stands above these in a register may be anything.
 *
 * Thread safety: any number of threads. A writer makes a place's version odd while it changes it,
 * and readers that see that, or another version afterwards, have found nothing.
 */
#ifndef SIBYL_PRELOAD_KNOWN_CALLS_H
#define SIBYL_PRELOAD_KNOWN_CALLS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "services.h"
#include "shim.h"

struct sibyl_preload_known_call {
  _Atomic(uint32_t) version;
  _Atomic(uint32_t) entry; /* its index and one; 0: nothing is here */
  _Atomic(void*) native;
  _Atomic(word) communicator, type, other, counts, handle_bits;
  /* In the upper bits of `nulls` how many ranks' sizes are to be looked at, whose sum is in
   * `counts` and the largest in `root`. */
  _Atomic(uint32_t) root, nulls;
} __attribute__((aligned(64)));

enum { sibyl_preload_known_bits = 6, sibyl_preload_null_shift = 2, sibyl_preload_null_bits = 3 };
extern struct sibyl_preload_known_call sibyl_preload_known_calls[1 << sibyl_preload_known_bits];

static inline unsigned sibyl_preload_known_place(uint32_t entry, word communicator, word type,
                                                 word other, word counts) {
  const uint32_t odd = 2654435769u; /* 2^32 over the golden ratio */
  uint32_t mixed = ((uint32_t)communicator * odd) ^ entry;
  mixed = (mixed * odd) ^ (uint32_t)type;
  mixed = (mixed * odd) ^ (uint32_t)other; /* the same elements, added up and compared in turns */
  mixed = (mixed * odd) ^ (uint32_t)counts;
  return mixed * odd >> (32 - sibyl_preload_known_bits);
}

/* Two counts, which are ints, as one word. */
static inline word sibyl_preload_pair(word first, word second) {
  return (uint32_t)first | second << 32;
}

/* Whether it is null or an address, and no constant: those are small numbers, or small and
 * negative.
 */
static inline int sibyl_preload_is_ordinary(word buffer) {
  return buffer == 0 || buffer - 4096 < (word)0 - 8192;
}
static inline int sibyl_preload_are_apart(word first, word second) {
  return first != second || first == 0;
}

/* What a place holds besides of a call by this entry, on this communicator, of these types. */
struct sibyl_preload_held {
  void* native; /* null: it holds none */
  word counts;
  uint32_t root, nulls;
};

static inline struct sibyl_preload_held sibyl_preload_look(unsigned index, word communicator,
                                                           word type, word other, word counts) {
  const uint32_t entry = index + 1;
  struct sibyl_preload_known_call* const known =
      &sibyl_preload_known_calls[sibyl_preload_known_place(entry, communicator, type, other,
                                                           counts)];
  const uint32_t version = atomic_load_explicit(&known->version, memory_order_acquire);
#define HELD(word) atomic_load_explicit(&known->word, memory_order_relaxed)
  const word handles =
      (HELD(communicator) ^ communicator) | (HELD(type) ^ type) | (HELD(other) ^ other);
  const int same = HELD(entry) == entry && (handles & HELD(handle_bits)) == 0;
  struct sibyl_preload_held held = {HELD(native), HELD(counts), HELD(root), HELD(nulls)};
#undef HELD
  atomic_thread_fence(memory_order_acquire);
  const uint32_t after = atomic_load_explicit(&known->version, memory_order_relaxed);
  if (!same || version != after || version % 2 != 0) held.native = NULL;
  return held;
}

/* Where the call goes; null where it is not known. */
static inline void* sibyl_preload_known(unsigned index, word communicator, word type, word other,
                                        word counts, word root, uint32_t nulls) {
  const struct sibyl_preload_held held =
      sibyl_preload_look(index, communicator, type, other, counts);
  const int same = held.counts == counts && held.root == (uint32_t)root && held.nulls == nulls;
  return same ? held.native : NULL;
}

/* The same of blocks whose sizes all ranks know: as many as the place says, once it is this call's.
 */
static inline void* sibyl_preload_known_sizes(unsigned index, word communicator, word type,
                                              word other, word sizes, uint32_t nulls) {
  const struct sibyl_preload_held held = sibyl_preload_look(index, communicator, type, other, 0);
  const int same = (held.nulls & sibyl_preload_null_bits) == nulls && sizes != 0;
  if (!same || held.native == NULL) return NULL;
  word sum = 0;
  int most = 0;
  const int* const size_of = (const int*)sizes;
  for (uint32_t rank = 0; rank < held.nulls >> sibyl_preload_null_shift; ++rank) {
    if (size_of[rank] < 0) return NULL;
    sum += (word)size_of[rank];
    most = size_of[rank] > most ? size_of[rank] : most;
  }
  return sum == held.counts && (uint32_t)most == held.root ? held.native : NULL;
}

/* For the implementation; see services.h. */
void sibyl_preload_remember(const char* symbol, const struct sibyl_preload_arguments* call);
void sibyl_preload_forget(uint64_t communicator);
void* sibyl_preload_find_known(unsigned index, const struct sibyl_preload_arguments* call);

#endif
