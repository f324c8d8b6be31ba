// Functions that are remembered by their frames: whether they still stand on this thread's stack.
//
// A function that calls the program's code may be left by a longjmp out of it, which runs no
// destructor, and what it has noted then stays. Nor is there anybody who tells of the end of a
// function of the MPI library. The frame tells.
//
// The stack grows down. A function whose frame lies at or above the remembered one has taken its
// place: the remembered one is gone. One whose frame lies below was called from inside it, or after
// it, by functions that went deeper; only the chain of callers tells which, and the unwinder knows
// it. That takes some microseconds, in calls that programs hardly make.
//
// Thread safety: any; a frame is asked about on the thread that it is of.
#pragma once

namespace sibyl {

struct StackFrame {
  const void* end = nullptr;   // the stack pointer before the function was called
  const void* code = nullptr;  // an address in the object that the function belongs to
  // Where the function begins; nullptr: it may be any of the object. Functions of one object that
  // are called from one place have frames that end alike.
  const void* function = nullptr;
};

// That of a function of this library, by its stack pointer before it was called.
StackFrame own_frame(const void* end = __builtin_dwarf_cfa());
// That of the outermost of the functions in a row, from the caller on, that belong to the same
// object as `code`, which the caller returns to; without an end where the unwinder does not find
// it.
StackFrame outermost_frame_of(const void* code);

// Whether it has been left, as far as can be told from a function whose frame ends at `now`. All
// this holds within one stack. Threads of a program's own making (swapcontext) and signal handlers
// run on others, from which no chain of callers leads to the remembered frame though it may be
// waiting there; so unless both frames lie on the stack that the system gave this thread, it is
// taken to stand, as where the unwinder does not get that far.
bool was_left(const StackFrame& frame, const void* now = __builtin_dwarf_cfa());
// Whether the chain of callers leads to it.
bool stands(const StackFrame& frame);

}  // namespace sibyl
