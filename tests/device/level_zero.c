/* A stub of Level Zero, as far as Sibyl asks it; see memory.h. Two drivers: the memory is the
 * second one's. */
#include "device/memory.h"

static int drivers[2], contexts[2], device, list;
struct properties {
  int structure;
  void* next;
  int type;
  uint64_t id, page;
};
struct queue {
  int structure;
  const void* next;
  uint32_t ordinal, index, flags;
  int mode, priority;
};

STUB int zeDriverGet(uint32_t* count, void** out) {
  *count = 2;
  for (int i = 0; out != NULL && i < 2; ++i) out[i] = &drivers[i];
  return 0;
}
STUB int zeContextCreate(void* driver, const void* description, void** context) {
  if (*(const int*)description != 0xd) return 1;
  return *context = &contexts[(int*)driver - drivers], 0;
}
STUB int zeMemGetAllocProperties(void* context, const void* at, struct properties* out,
                                 void** where) {
  if (out->structure != 0x17) return 1;
  const int here = context == &contexts[1] && stub_find(at) != NULL;
  out->type = here ? 2 : 0;
  *where = here ? &device : NULL;
  return 0;
}
STUB int zeMemGetAddressRange(void* context, const void* at, void** begin, size_t* bytes) {
  const struct stub_allocation* one = stub_find(at);
  if (context != &contexts[1] || one == NULL) return 1;
  *begin = one->begin;
  *bytes = one->bytes;
  return 0;
}
STUB int zeCommandListCreateImmediate(void* context, void* on, const struct queue* description,
                                      void** out) {
  if (context != &contexts[1] || on != &device || description->structure != 0xe ||
      description->mode != 1) {
    return 1;
  }
  return *out = &list, 0;
}
STUB int zeCommandListAppendMemoryCopy(void* to_list, void* to, const void* from, size_t bytes,
                                       void* signal, uint32_t waits, void** events) {
  if (to_list != &list || signal != NULL || waits != 0 || events != NULL) return 1;
  return stub_copy(to, from, bytes, 1);
}
