// The re-entry guard of the wrappers.
//
// A call that arrives inside another was made by the MPI library or by Sibyl itself, on ranks and
// in an order that no program wrote: it goes native. But a wrapper may also be left by a longjmp
// out of an error handler, which runs no destructor; a guard that only counted would take this
// thread to be inside a call for ever, all its calls would go native, and other ranks, which serve
// them, would wait. So the guard remembers the frame of the outermost wrapper, and a call that
// finds one looks whether it still stands. Calls that find none, which is all of a usual program,
// pay a comparison.
//
// Thread safety: the guard is per thread.
#pragma once

#include "communicator/own_calls.hpp"
#include "communicator/stack_frames.hpp"

namespace sibyl::preload {

// One level of wrapper on this thread's stack.
class Entry {
 public:
  // `frame` names the wrapper's frame: the stack pointer before it was called.
  [[gnu::hot]] explicit Entry(const void* frame = __builtin_dwarf_cfa()) : guard_(guard) {
    if (guard_.depth != 0 && was_left(own_frame(guard_.outermost), frame)) guard_.depth = 0;
    if (guard_.depth++ == 0) guard_.outermost = frame;
  }
  ~Entry() { --guard_.depth; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  bool nested() const { return guard_.depth > 1 || OwnCalls::are_made(); }

 private:
  struct Guard {
    int depth = 0;
    const void* outermost = nullptr;
  };
  static thread_local Guard guard;

  Guard& guard_;
};

}  // namespace sibyl::preload
