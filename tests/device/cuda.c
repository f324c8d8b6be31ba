/* A stub of CUDA's driver, as far as Sibyl asks it; see memory.h. A thread needs a context to copy.
 */
#include "device/memory.h"

enum { success = 0, invalid_value = 1, invalid_context = 201 };
static _Thread_local int contexts;
static int the_context;
static int pooled;   /* memory has no context of its own */
static int retained; /* the primary one, now */
static long retains; /* and ever */

typedef unsigned long long address;
static void* pointer(address at) { return (void*)(uintptr_t)at; }

STUB int cuPointerGetAttribute(void* value, int attribute, address at) {
  const struct stub_allocation* one = stub_find(pointer(at));
  if (one == NULL) return invalid_value;
  switch (attribute) {
    case 1:
      if (pooled) return invalid_value;
      return *(void**)value = &the_context, success;
    case 2:
      return *(unsigned*)value = 2, success;
    case 8:
      return *(unsigned*)value = 0, success;
    case 9:
      return *(int*)value = 0, success;
    case 11:
      return *(address*)value = (address)(uintptr_t)one->begin, success;
    case 12:
      return *(size_t*)value = one->bytes, success;
    default:
      return invalid_value;
  }
}

STUB int cuMemcpy(address to, address from, size_t bytes) {
  if (contexts == 0) return invalid_context;
  return stub_copy(pointer(to), pointer(from), bytes, 0);
}

struct side {
  size_t x, y;
  unsigned type;
  const void* host;
  address device;
  void* array;
  size_t pitch;
};
struct copy {
  struct side from, to;
  size_t width, height;
};
STUB int cuMemcpy2DUnaligned_v2(const struct copy* what) {
  if (contexts == 0) return invalid_context;
  if (what->from.type != 4 || what->to.type != 4 || what->from.pitch < what->width) {
    return invalid_value;
  }
  for (size_t row = 0; row < what->height; ++row) {
    const int failed =
        stub_copy(pointer(what->to.device + row * what->to.pitch),
                  pointer(what->from.device + row * what->from.pitch), what->width, 0);
    if (failed) return failed;
  }
  return success;
}

STUB int cuStreamSynchronize(void* stream) {
  (void)stream;
  if (contexts == 0) return invalid_context;
  return stub_settle(), success;
}
STUB int cuCtxGetCurrent(void** context) {
  return *context = contexts == 0 ? NULL : &the_context, success;
}
STUB int cuCtxPushCurrent_v2(void* context) {
  return context == &the_context ? ++contexts, success : invalid_context;
}
STUB int cuCtxPopCurrent_v2(void** context) {
  if (contexts == 0) return invalid_context;
  return *context = &the_context, --contexts, success;
}
STUB int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  return ++retained, ++retains, *context = &the_context, success;
}
STUB int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return retained == 0 ? invalid_context : (--retained, success);
}

/* For the tests. */
STUB void stub_pool(int whether) { pooled = whether; }
STUB int stub_retained(void) { return retained; }
STUB long stub_retains(void) { return retains; }
