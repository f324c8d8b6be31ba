// Chains of callers, by the unwinder; see stack_frames.hpp.
#include "communicator/stack_frames.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <cstddef>
#include <cstdint>

namespace sibyl {
namespace {

struct Stack {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  bool holds(std::uintptr_t address) const { return address > low && address <= high; }
};

Stack system_stack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack.low = reinterpret_cast<std::uintptr_t>(low);
    stack.high = stack.low + size;
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

const void* object_of(const void* code) {
  Dl_info found;
  return dladdr(code, &found) != 0 ? found.dli_fbase : nullptr;
}

const void* begin_of_function(const void* code) {
  return _Unwind_FindEnclosingFunction(const_cast<void*>(code));
}

struct Walk {
  std::uintptr_t wanted;    // the end of the frame that is looked for
  const void* object;       // of its function
  const void* function;     // that one, or any
  std::uintptr_t code = 0;  // in the function of the frame before
  bool stands = false;
  bool passed = false;  // the chain leads beyond it
};

// Called for each frame, the innermost first, with the stack pointer that its function has now:
// that is where the frame before ends.
_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t end_of_last = _Unwind_GetCFA(context);
  const auto* const code = reinterpret_cast<const void*>(walk.code);
  walk.passed = end_of_last > walk.wanted;
  walk.stands = end_of_last == walk.wanted && object_of(code) == walk.object &&
                (walk.function == nullptr || begin_of_function(code) == walk.function);
  walk.code = _Unwind_GetIP(context);
  return walk.passed || walk.stands ? _URC_END_OF_STACK : _URC_NO_REASON;
}

Walk walk_to(const StackFrame& frame) {
  Walk walk{.wanted = reinterpret_cast<std::uintptr_t>(frame.end),
            .object = object_of(frame.code),
            .function = frame.function};
  _Unwind_Backtrace(&step, &walk);
  return walk;
}

struct Search {
  const void* object;
  bool begun = false;
  StackFrame found{};
};

_Unwind_Reason_Code search_step(_Unwind_Context* context, void* data) {
  Search& search = *static_cast<Search*>(data);
  const auto* const code = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  const bool inside = object_of(code) == search.object;
  if (search.begun && !inside) {
    search.found.end = reinterpret_cast<const void*>(_Unwind_GetCFA(context));
    return _URC_END_OF_STACK;
  }
  if (inside) search.found.code = code;
  search.begun = inside;
  return _URC_NO_REASON;
}

}  // namespace

StackFrame own_frame(const void* end) {
  return {end, reinterpret_cast<const void*>(&system_stack)};
}

StackFrame outermost_frame_of(const void* code) {
  Search search{.object = object_of(code)};
  _Unwind_Backtrace(&search_step, &search);
  search.found.function = begin_of_function(search.found.code);
  return search.found;
}

bool was_left(const StackFrame& frame, const void* now) {
  // Found once per thread, since glibc reads a file for a main thread's.
  static thread_local const Stack stack = system_stack();
  const auto then = reinterpret_cast<std::uintptr_t>(frame.end);
  const auto here = reinterpret_cast<std::uintptr_t>(now);
  if (!stack.holds(then) || !stack.holds(here)) return false;
  return here >= then || walk_to(frame).passed;
}

bool stands(const StackFrame& frame) { return frame.end != nullptr && walk_to(frame).stands; }

}  // namespace sibyl
