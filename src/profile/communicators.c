/* Handles of communicators, and what they stand for; see communicators.h.
 *
 * A handle says nothing once its communicator has been freed: MPI gives it to the next one. So each
 * communicator that is seen gets an attribute, whose delete callback forgets what the handle stood
 * for. The callbacks take no lock, since MPI may hold one of its own.
 *
 * The attribute's value has the communicator's name. MPI_Comm_dup, which all ranks call in one
 * order on what they copy, calls back for the name of the copy.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "communicators.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "native.h"
#include "sites.h"
#include "trace.h"

enum { places = 1 << 15, longest_search = 64 };
static struct {
  _Atomic word handle;
  _Atomic(struct communicator*) communicator; /* null: freed */
} known[places];

static struct communicator all[trace_most_communicators];
static struct communicator nameless = {
    .index = (uint32_t)no_communicator, .destinations = 0, .is_inter = 1};

static int nth_place(word handle, int n) {
  const uint32_t first = (uint32_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
  return (int)((first + (uint32_t)n) % places);
}

/* Where the handle is; -1: nowhere. */
static int place_of(word handle) {
  for (int i = 0; i < longest_search; ++i) {
    const int place = nth_place(handle, i);
    const word there = atomic_load_explicit(&known[place].handle, memory_order_acquire);
    if (there == handle) return place;
    if (there == 0) return -1;
  }
  return -1;
}

static struct communicator* at(int place) {
  return atomic_load_explicit(&known[place].communicator, memory_order_acquire);
}

/* Where it may be put: the first place without a communicator, so that it is found there. -1: there
 * is none near enough. */
static int place_for(word handle) {
  for (int i = 0; i < longest_search; ++i) {
    const int place = nth_place(handle, i);
    if (at(place) == NULL) return place;
  }
  return -1;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* "0-3,7": in the communicator's order. */
static char* describe(const int* ranks, int count) {
  const size_t longest = 12;
  char* const text = malloc((size_t)count * longest + 1);
  if (text == NULL) return NULL;
  char* end = text;
  *end = '\0';
  for (int i = 0; i < count;) {
    int last = i;
    while (last + 1 < count && ranks[last + 1] == ranks[last] + 1) ++last;
    end += sprintf(end, i == 0 ? "%d" : ",%d", ranks[i]);
    if (last > i) end += sprintf(end, "-%d", ranks[last]);
    i = last + 1;
  }
  return text;
}

enum { no_key = -1 };
static word world_group; /* in which members have their ranks; 0: there is none */
static int key = no_key; /* of the attribute */

/* The members' ranks in MPI_COMM_WORLD; null where some have none, or there is no memory. */
static char* members_of(word handle, int size) {
  word group = 0;
  if (world_group == 0 || native.comm_group(handle, &group) != 0) return NULL;
  int* const ranks = malloc(2 * (size_t)size * sizeof *ranks);
  char* text = NULL;
  if (ranks != NULL) {
    for (int i = 0; i < size; ++i) ranks[i] = i;
    int known_all =
        native.group_translate_ranks(group, size, ranks, world_group, ranks + size) == 0;
    for (int i = 0; i < size; ++i) known_all = known_all && ranks[size + i] >= 0;
    if (known_all) text = describe(ranks + size, size);
  }
  free(ranks);
  native.group_free(&group);
  return text;
}

/* The strings of members that there were, and how many communicators of them were counted. */
struct list {
  uint32_t string;
  uint32_t counted;
  int is_taken;
};
static struct list lists[2 * trace_most_communicators];

static struct list* list_of(const char* members) {
  const uint32_t count = sizeof lists / sizeof *lists;
  uint32_t i = (uint32_t)(hash_of(members) >> 32) % count;
  while (lists[i].is_taken && strcmp(trace_entry(&trace->strings, lists[i].string), members) != 0) {
    i = (i + 1) % count;
  }
  if (!lists[i].is_taken) lists[i].string = trace_string(members);
  lists[i].is_taken = 1;
  return &lists[i];
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* The attribute's value; null where calls on the communicator have no records. */
struct named {
  uint64_t name;
  _Atomic uint32_t copies; /* that there have been of it */
};

static struct named* new_named(uint64_t name) {
  struct named* const made = malloc(sizeof *made);
  if (made != NULL) *made = (struct named){.name = name};
  return made;
}

static const struct named* named_of(word handle) {
  void* value = NULL;
  int found = 0;
  if (key == no_key || native.comm_get_attr(handle, key, &value, &found) != 0) return NULL;
  return found ? value : NULL;
}

static uint64_t name_of_next_copy(struct named* original) {
  char text[40];
  snprintf(text, sizeof text, "%" PRIx64 ".%" PRIu32, original->name,
           atomic_fetch_add_explicit(&original->copies, 1, memory_order_relaxed));
  return hash_of(text) | trace_copied;
}

/* Where there is no memory, the copy is named as if it were none. */
static int name_copy(word comm, int key, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)key, (void)extra;
  struct named* const made = value == NULL ? NULL : new_named(name_of_next_copy(value));
  *flag = made != NULL;
  if (made != NULL) *(void**)copy = made;
  return 0;
}

static void give_attribute(word handle, struct named* named) {
  if (key == no_key || native.comm_set_attr(handle, key, named) != 0) free(named);
}

/* ---- New ones ------------------------------------------------------------------------------- */

static int forget(word handle, int key, void* value, void* extra) {
  (void)key, (void)extra;
  free(value);
  const int place = place_of(native_handle(handle));
  if (place >= 0) atomic_store_explicit(&known[place].communicator, NULL, memory_order_release);
  return 0;
}

static void watch(word handle, const struct communicator* communicator) {
  if (handle == native.world || handle == native.self) return;
  const struct trace_communicator* const entry =
      communicator->has_records ? trace_entry(&trace->communicators, communicator->index) : NULL;
  give_attribute(handle, entry == NULL ? NULL : new_named(entry->name));
}

void communicators_begin(word group) {
  if (world_group != 0) native.group_free(&world_group); /* a session's */
  world_group = group;
  if (native.comm_create_keyval((void*)name_copy, (void*)forget, &key, NULL) != 0) key = no_key;
}

void communicators_follow_world(void) { give_attribute(native.world, new_named(0)); }

void communicators_end(void) {
  if (world_group != 0) native.group_free(&world_group);
  world_group = 0;
  key = no_key;
  for (int i = 0; i < places; ++i) {
    if (atomic_load_explicit(&known[i].handle, memory_order_relaxed) == 0) continue;
    atomic_store_explicit(&known[i].communicator, NULL, memory_order_release);
  }
}

/* `named`: null for one that is not a copy. */
static struct communicator* add(int size, int rank, int inter, const char* members,
                                const struct named* named) {
  struct trace_communicator* const entry = trace_append(&trace->communicators);
  if (entry == NULL) {
    atomic_fetch_or_explicit(&trace->flags, trace_overflowed, memory_order_relaxed);
    return &nameless;
  }
  const uint32_t index =
      (uint32_t)atomic_load_explicit(&trace->communicators.used, memory_order_relaxed);
  entry->size = size;
  entry->rank = rank;
  entry->flags = inter ? 1 : members == NULL ? 2 : 0;
  if (members != NULL) {
    struct list* const list = list_of(members);
    entry->members = list->string;
    entry->name = named != NULL ? named->name : ++list->counted;
  }
  trace_publish(&trace->communicators);
  all[index] = (struct communicator){.index = index,
                                     .size = size,
                                     .rank = rank,
                                     .destinations = -1,
                                     .is_inter = inter,
                                     .has_records = members != NULL && entry->members != 0};
  return &all[index];
}

static struct communicator* look_up(word handle) {
  int inter = 0, size = 0, rank = 0;
  if (native.comm_test_inter(handle, &inter) != 0 || native.comm_size(handle, &size) != 0 ||
      native.comm_rank(handle, &rank) != 0) {
    return NULL;
  }
  char* const members = inter ? NULL : members_of(handle, size);
  const struct named* const named = named_of(handle);
  registry_lock();
  int place = place_of(handle);
  struct communicator* found = place >= 0 ? at(place) : NULL;
  const int is_new = found == NULL;
  if (is_new) place = place_for(handle);
  if (is_new && place < 0) {
    found = &nameless;
    atomic_fetch_or_explicit(&trace->flags, trace_overflowed, memory_order_relaxed);
  } else if (is_new) {
    found = add(size, rank, inter, members, named);
    atomic_store_explicit(&known[place].handle, handle, memory_order_release);
    atomic_store_explicit(&known[place].communicator, found, memory_order_release);
  }
  registry_unlock();
  free(members);
  if (is_new && place >= 0 && named == NULL) watch(handle, found);
  return found;
}

struct communicator* communicator_of(word handle) {
  const int place = place_of(handle);
  struct communicator* found = place >= 0 ? at(place) : NULL;
  if (__builtin_expect(found == NULL, 0) && handle != native.comm_null) {
    const int saved = errno;
    found = look_up(handle);
    errno = saved;
  }
  return found;
}

int communicator_destinations(struct communicator* communicator, word handle) {
  if (communicator->destinations < 0) {
    communicator->destinations = sibyl_preload_entries(entries_of_destinations, 0, handle);
  }
  return communicator->destinations;
}
