// Whether a wrapper still stands on the stack; see entry.hpp.
//
// The stack grows down. A wrapper whose frame lies at or above the remembered one has taken its
// place: the remembered one is gone. One whose frame lies below was called from inside it, or after
// it, by functions that went deeper; only the chain of callers tells which, and the unwinder knows
// it. That takes some microseconds, in calls that programs hardly make.
//
// All this holds within one stack. Threads of a program's own making (swapcontext) and signal
// handlers run on others, from which no chain of callers leads to the remembered frame though it
// may be waiting there; so unless both frames lie on the stack that the system gave this thread,
// the outer wrapper is taken to stand, as where the unwinder does not get that far.
#include "preload/implementation/entry.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <cstddef>
#include <cstdint>

namespace sibyl::preload {

thread_local Entry::Guard Entry::guard;

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

bool in_this_library(const void* code) {
  Dl_info there;
  Dl_info here;
  return dladdr(code, &there) != 0 && dladdr(reinterpret_cast<void*>(&system_stack), &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

struct Walk {
  std::uintptr_t wanted;    // the frame that is looked for
  std::uintptr_t code = 0;  // in the function of the frame before
  bool stands = false;
  bool passed = false;  // the chain leads beyond it
};

// Called for each frame, the innermost first, with the stack pointer that its function has now:
// that is where the frame before ends.
_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t end_of_last = _Unwind_GetCFA(context);
  walk.passed = end_of_last > walk.wanted;
  walk.stands = end_of_last == walk.wanted && in_this_library(reinterpret_cast<void*>(walk.code));
  walk.code = _Unwind_GetIP(context);
  return walk.passed || walk.stands ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool Entry::was_left(const void* outermost, const void* frame) {
  // Found once per thread, since glibc reads a file for a main thread's.
  static thread_local const Stack stack = system_stack();
  const auto wanted = reinterpret_cast<std::uintptr_t>(outermost);
  const auto now = reinterpret_cast<std::uintptr_t>(frame);
  if (!stack.holds(wanted) || !stack.holds(now)) return false;
  if (now >= wanted) return true;
  Walk walk{.wanted = wanted};
  _Unwind_Backtrace(&step, &walk);
  return walk.passed;
}

}  // namespace sibyl::preload
