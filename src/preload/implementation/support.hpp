// What the generated wrappers of one MPI need: the re-entry guard, the buffers of Fortran, and the
// table through which the shim finds a wrapper.
//
// Thread safety: the guard is per thread; the rest is set once, before the first wrapper is called.
#pragma once

#include <mpi.h>

#include <limits>
#include <span>

#include "collectives/collectives.hpp"
#include "executor/faults.hpp"

#ifdef OPEN_MPI
#define SIBYL_PRELOAD_OPENMPI 1
#else
#define SIBYL_PRELOAD_OPENMPI 0
#endif
#if MPI_VERSION >= 4
#define SIBYL_PRELOAD_LARGE 1
#else
#define SIBYL_PRELOAD_LARGE 0
#endif

namespace sibyl::preload {

// Whether the MPI has `_c` functions. Where it has none, a program that finds the shim's (mpi4py
// asks with weak references) is served all the same; a native call then goes to the function with
// int counts.
inline constexpr bool has_large = SIBYL_PRELOAD_LARGE != 0;
// There a count that needs more than an int cannot be handed on: an error, and never a shorter
// call.
inline bool too_large(MPI_Count count) { return count > std::numeric_limits<int>::max(); }
int raise_count(MPI_Comm comm);

// One level of wrapper on this thread's stack. A call that arrives inside another was made by the
// MPI library or by Sibyl itself, on ranks and in an order that no program wrote: it goes native.
class Entry {
 public:
  Entry() { ++depth_; }
  ~Entry() { --depth_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  bool nested() const { return depth_ > 1; }

 private:
  static thread_local int depth_;
};

// MPI_IN_PLACE and MPI_BOTTOM of Fortran are addresses of variables of the MPI library; returns
// their C values, and any other address as it is.
void* fortran_buffer(void* address);
// Fortran's integers are C's ints in every MPI that is served.
inline const int* fortran_array(const MPI_Fint* array) {
  static_assert(sizeof(MPI_Fint) == sizeof(int));
  return array;
}

struct Wrapper {
  const char* symbol;
  void* function;
  // Major versions of the MPI library, as it reports itself at run time, for which it is right.
  int first_version;
  int last_version;
};
inline constexpr int any_version = 1 << 30;

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Generated from functions.txt and fortran.txt.
std::span<const Wrapper> wrappers();

}  // namespace sibyl::preload
