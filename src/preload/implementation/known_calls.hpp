// Tells the shim of calls that go to the MPI library whenever they come again (../known_calls.h),
// and asks it for those of Fortran, which come with handles and buffers of Fortran's.
//
// Thread safety: any number of threads; set once, before the first wrapper is called.
#pragma once

#include <cstdint>

#include "communicator/settled_calls.hpp"
#include "preload/services.h"

namespace sibyl::preload {

// From now on, by these; where they take none, as Open MPI's component does, nothing is told.
void tell_known_calls_by(const sibyl_preload_services& services);

// Where the shim says that a call goes; null where it is not known, or there is no shim.
extern void* (*find_known)(unsigned entry, const sibyl_preload_arguments* call);

inline std::uint64_t pair_of(int first, int second) {
  return static_cast<std::uint32_t>(first) | static_cast<std::uint64_t>(second) << 32U;
}

// Of a C function's arguments; the words as ../known_calls.h has them, then its buffers.
template <class Function, class Comm, class Type, class Other, class... Buffers>
Function* known_call(unsigned entry, Comm comm, Type type, Other other, std::uint64_t counts,
                     int root, std::uint32_t nulls, Buffers... buffers) {
  if (find_known == nullptr) return nullptr;
  const void* const all[] = {nullptr, buffers...};
  for (const void* buffer : all) {
    if (buffer == MPI_IN_PLACE) return nullptr;
  }
  if constexpr (sizeof...(buffers) == 2) {
    if (all[1] == all[2] && all[1] != nullptr) return nullptr;
  }
  sibyl_preload_arguments call{};
  call.communicator = SettledCall::word(comm);
  call.type = SettledCall::word(type);
  call.other = SettledCall::word(other);
  call.counts = counts;
  call.root = static_cast<std::uint32_t>(root);
  call.nulls = nulls;
  return reinterpret_cast<Function*>(find_known(entry, &call));
}

}  // namespace sibyl::preload
