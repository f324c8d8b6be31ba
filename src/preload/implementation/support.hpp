// What the generated wrappers of one MPI need: the hooks, the buffers of Fortran, and the
// table through which the shim finds a wrapper.
//
// Thread safety: all is set once, before the first wrapper is called.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/hooks.hpp"
#include "collectives/native.hpp"
#include "communicator/being_freed.hpp"
#include "executor/faults.hpp"
#include "executor/mpi_library.hpp"
#include "preload/implementation/call_line.hpp"
#include "preload/implementation/entry.hpp"
#include "preload/implementation/served_world.hpp"

#ifdef OPEN_MPI
#define SIBYL_PRELOAD_OPENMPI 1
#else
#define SIBYL_PRELOAD_OPENMPI 0
#endif
// The standard's interface has no Fortran; bindings above it call the C functions.
#define SIBYL_PRELOAD_FORTRAN (!SIBYL_STANDARD_ABI)
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
// call. One that nobody reads here may hold anything.
inline bool too_large(MPI_Count count) { return !std::in_range<int>(count); }
int raise_count(MPI_Comm comm);

// The address in the program to which the call that this thread is in returns; asked before the
// call goes on to any other function.
extern const void* (*called_from)();
inline CallPlace place_of_call() { return {called_from(), &line_of_call}; }

// Major version of the MPI library in use.
extern int library_version;

#if SIBYL_PRELOAD_FORTRAN
// MPI_IN_PLACE and MPI_BOTTOM of Fortran are addresses of variables of the MPI library; returns
// their C values, and any other address as it is.
void* fortran_buffer(void* address);
// Fortran's integers are C's ints in every MPI that is served.
inline const int* fortran_array(const MPI_Fint* array) {
  static_assert(sizeof(MPI_Fint) == sizeof(int));
  return array;
}
#endif

// Functions that are hooked: the arguments go on as machine words, as in the shim, so that one
// library serves an MPI with sessions though it was built with the header of one without.
using word = std::uintptr_t;  // NOLINT(readability-identifier-naming): as in shim.h

struct Hook {
  void (*before)();  // null: none
  void (*after)();   // after success; null: none
  bool open;         // calls from inside are the program's (its callbacks') and are served
  bool nested;       // `after`, which is local, is called within another call, too
};

template <typename... Words>
int call_native(const std::atomic<void*>& native, Words... words) {
  using Function = int (*)(Words...);
  return reinterpret_cast<Function>(native.load(std::memory_order_relaxed))(words...);
}

// Calls the native function by `call`, which returns MPI's code, with the hooks around it. Those
// that follow are for a world that is served: others of its ranks would not come to a set-up.
template <typename Call>
int with_hooks(const Hook& hook, Call call) {
  int status = MPI_SUCCESS;
  {
    const Entry entry;
    if (entry.nested()) {
      status = call();
      if (hook.nested && status == MPI_SUCCESS) hook.after();
      return status;
    }
    if (hook.before != nullptr) hook.before();
    if (!hook.open) status = call();
  }
  if (hook.open) status = call();
  const Entry entry;
  if (status == MPI_SUCCESS && hook.after != nullptr && whole_world_may_be_served()) hook.after();
  return status;
}

template <typename... Words>
word hooked(const std::atomic<void*>& native, const Hook& hook, Words... words) {
  return static_cast<word>(with_hooks(hook, [&] { return call_native(native, words...); }));
}

#if SIBYL_PRELOAD_FORTRAN
// `ierror` may be null: in mpi_f08 it is optional.
template <typename... Words>
void hooked_fortran(const std::atomic<void*>& native, const Hook& hook, MPI_Fint* ierror,
                    Words... words) {
  const int status = with_hooks(hook, [&] {
    std::int64_t code = MPI_SUCCESS;  // room for integers of either size, the lower half first
    call_native(native, words..., &code);
    return static_cast<int>(code);
  });
  if (ierror != nullptr) *ierror = static_cast<MPI_Fint>(status);
}
#endif

#if !SIBYL_PRELOAD_OPENMPI
// A function that makes a communicator of the ranks of `comm`, or some of them, and puts it where
// its last argument says; see hooks.hpp.
template <typename... Words>
word creating(const std::atomic<void*>& native, word comm, Words... words) {
  const Entry entry;
  if (entry.nested()) return static_cast<word>(call_native(native, comm, words...));
  // A number in MPICH's interface, a pointer in the standard's.
  const auto parent = (MPI_Comm)comm;  // NOLINT
  const int raised = hooks::before_creation(parent);
  if (raised != MPI_SUCCESS) return static_cast<word>(raised);
  const int status = call_native(native, comm, words...);
  const word last = std::get<sizeof...(words) - 1>(std::tuple(words...));
  const auto* const made = reinterpret_cast<const MPI_Comm*>(last);
  if (status == MPI_SUCCESS) {
    hooks::after_creation(parent, *made != MPI_COMM_NULL);  // some ranks get none
  }
  return static_cast<word>(status);
}
#endif

// One that frees a communicator, of which it gets the address. Where there is none the library says
// so, by an error handler that may jump out of here and end no BeingFreed.
inline word freeing(const std::atomic<void*>& native, word comm) {
  const auto* const address = reinterpret_cast<const MPI_Comm*>(comm);
  const bool may_be_freed = address != nullptr && *address != MPI_COMM_NULL &&
                            *address != MPI_COMM_WORLD && *address != MPI_COMM_SELF;
  if (!may_be_freed) return static_cast<word>(call_native(native, comm));
  const BeingFreed freed(*address);
  const int status = call_native(native, comm);
  if (status == MPI_SUCCESS) hooks::after_freeing();
  return static_cast<word>(status);
}

struct Wrapper {
  const char* symbol;
  void* function;
  // Major versions of the MPI library, as it reports itself at run time, for which it is right.
  int first_version;
  int last_version;
  // Where the native function is kept that it goes on to; null: it needs none.
  std::atomic<void*>* native = nullptr;
  // Which one that is: the MPI library's PMPI_X, or what a call of MPI_X would have reached.
  bool below_tools = false;
  bool counted = false;  // wanted for the report alone
};
inline constexpr int any_version = 1 << 30;

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Generated from functions.txt and fortran.txt.
std::span<const Wrapper> wrappers();
// The C functions among them that are served.
std::span<const std::string_view> served();

}  // namespace sibyl::preload
