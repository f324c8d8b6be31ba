/* Remembers and forgets them; see known_calls.h. */
#include "known_calls.h"

#include <pthread.h>
#include <string.h>

struct sibyl_preload_known_call sibyl_preload_known_calls[1 << sibyl_preload_known_bits];

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int) are_any;

/* The entries of which calls were remembered, by the implementation's own words for them. */
struct Entry {
  const char* symbol;
  unsigned index;
  void* native;
};

static const struct Entry* entry_of(const char* symbol) {
  enum { most = 32 };
  static struct Entry entries[most];
  static size_t count;
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].symbol == symbol) return &entries[i];
  }
  if (count == most) return NULL;
  for (unsigned index = 0; index < sibyl_preload_symbol_count; ++index) {
    if (strcmp(sibyl_preload_symbols[index].name, symbol) != 0) continue;
    void* const native = sibyl_preload_hand_back(symbol);
    if (native == NULL) return NULL;
    entries[count] = (struct Entry){symbol, index, native};
    return &entries[count++];
  }
  return NULL;
}

static void change(struct sibyl_preload_known_call* known, uint32_t entry, void* native,
                   const struct sibyl_preload_arguments* call) {
#define HOLD(word, value) atomic_store_explicit(&known->word, value, memory_order_relaxed)
  const uint32_t version = atomic_load_explicit(&known->version, memory_order_relaxed);
  HOLD(version, version + 1);
  atomic_thread_fence(memory_order_release);
  HOLD(entry, entry);
  HOLD(native, native);
  HOLD(communicator, call->communicator);
  HOLD(type, call->type);
  HOLD(other, call->other);
  HOLD(counts, call->counts);
  HOLD(handle_bits, call->handle_bits);
  HOLD(root, call->root);
  HOLD(nulls, call->nulls);
#undef HOLD
  atomic_store_explicit(&known->version, version + 2, memory_order_release);
}

void sibyl_preload_remember(const char* symbol, const struct sibyl_preload_arguments* call) {
  if (sibyl_preload_below) return; /* MPI_X goes to a tool, and PMPI_X asks who calls */
  pthread_mutex_lock(&writing);
  const struct Entry* const entry = entry_of(symbol);
  if (entry != NULL) {
    const uint32_t number = entry->index + 1;
    const word counts = call->nulls > sibyl_preload_null_bits ? 0 : call->counts; /* of sizes */
    const unsigned place =
        sibyl_preload_known_place(number, call->communicator, call->type, call->other, counts);
    change(&sibyl_preload_known_calls[place], number, entry->native, call);
    atomic_store_explicit(&are_any, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&writing);
}

void* sibyl_preload_find_known(unsigned index, const struct sibyl_preload_arguments* call) {
  return sibyl_preload_known(index, call->communicator, call->type, call->other, call->counts,
                             call->root, call->nulls);
}

void sibyl_preload_forget(uint64_t communicator) {
  static const struct sibyl_preload_arguments none;
  if (!atomic_load_explicit(&are_any, memory_order_relaxed)) return;
  pthread_mutex_lock(&writing);
  for (size_t place = 0; place < 1 << sibyl_preload_known_bits; ++place) {
    struct sibyl_preload_known_call* const known = &sibyl_preload_known_calls[place];
    const int holds = atomic_load_explicit(&known->entry, memory_order_relaxed) != 0;
    const word of = atomic_load_explicit(&known->communicator, memory_order_relaxed);
    if (holds && (communicator == 0 || of == communicator)) change(known, 0, NULL, &none);
  }
  pthread_mutex_unlock(&writing);
}
