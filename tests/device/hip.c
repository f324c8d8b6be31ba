/* A stub of HIP, version 6, as far as Sibyl asks it; see memory.h. */
#include "device/memory.h"

struct attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int managed;
  unsigned flags;
};
static _Thread_local int last_error; /* as in HIP */

STUB int hipPointerGetAttributes(struct attributes* out, const void* at) {
  if (stub_find(at) == NULL) return last_error = 1;
  *out = (struct attributes){2, 0, (void*)at, NULL, 0, 0};
  return 0;
}
STUB int hipMemGetAddressRange(void** begin, size_t* bytes, void* at) {
  const struct stub_allocation* one = stub_find(at);
  if (one == NULL) return last_error = 1;
  *begin = one->begin;
  *bytes = one->bytes;
  return 0;
}
STUB int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  if (kind != 4) return last_error = 21;
  return stub_copy(to, from, bytes, 0);
}
STUB int hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                     size_t rows, int kind) {
  for (size_t row = 0; row < rows; ++row) {
    if (hipMemcpy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind)) {
      return 1;
    }
  }
  return 0;
}
STUB int hipStreamSynchronize(void* stream) {
  (void)stream;
  return stub_settle(), 0;
}
STUB int hipGetLastError(void) {
  const int error = last_error;
  return last_error = 0, error;
}
STUB int hipRuntimeGetVersion(int* version) { return *version = 60240000, 0; }
