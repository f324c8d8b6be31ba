// A device runtime, as far as Sibyl needs it: whose memory an address is, and copies.
//
// Nothing is linked: functions are looked up in the library that the program has loaded, and types
// are declared here as far as they are used.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <memory>

namespace sibyl::device {

// Bytes [begin, end) of one allocation.
struct Range {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool holds(const void* address) const { return address >= begin && address < end; }
};

// `rows` pieces of `width` bytes, which begin `pitch` bytes apart; at both ends of a copy alike.
struct Rows {
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t pitch = 0;
};

// Thread safety: all functions from any thread.
class Runtime {
 public:
  virtual ~Runtime() = default;
  // Whether the host must not touch what lies at `address`; then `range` is the allocation, or
  // empty where the runtime does not tell.
  virtual bool owns(const void* address, Range& range) = 0;
  // Between host and device memory, in either direction: the runtime finds out which is which, so
  // that an address which has become the host's since it was asked for is copied right all the
  // same. False where the runtime refuses.
  virtual bool copy(void* to, const void* from, const Rows& rows) = 0;
  // What was copied can be seen by everything that the device does from now on. False likewise.
  virtual bool settle() = 0;
};

// Of a library that is loaded (a handle of dlopen); nullptr where it lacks a function.
std::unique_ptr<Runtime> make_cuda(void* library);
std::unique_ptr<Runtime> make_hip(void* library);
std::unique_ptr<Runtime> make_level_zero(void* library);

// Looks a function up; false where the library has none of that name.
template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace sibyl::device
