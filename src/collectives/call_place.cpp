// Callers of callers, by the unwinder; see call_place.hpp.
#include "collectives/call_place.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include "arrival/splitmix64.hpp"

namespace sibyl {
namespace {

const void* object_of(std::uintptr_t code) {
  Dl_info info;
  // An address to return to may be the first one behind its function.
  const bool found = dladdr(reinterpret_cast<void*>(code - 1), &info) != 0;
  return found ? info.dli_fbase : nullptr;
}

struct Walk {
  std::uintptr_t begin;  // the chain begins where a call returns to this address
  const void* bindings;  // goes on in this object; nullptr: for one caller
  std::uint64_t chain = 0;
  bool begun = false;
};

// Called for each function, the innermost first, with the address at which it goes on.
_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t code = _Unwind_GetIP(context);
  const bool first = !walk.begun;
  if (first && code != walk.begin) return _URC_NO_REASON;
  walk.begun = true;
  walk.chain = SplitMix64(walk.chain ^ code).next();
  const bool goes_on = walk.bindings == nullptr ? first : object_of(code) == walk.bindings;
  return goes_on ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::int64_t number_of(const void* address, const void* bindings) {
  Walk walk{.begin = reinterpret_cast<std::uintptr_t>(address), .bindings = bindings};
  _Unwind_Backtrace(&step, &walk);
  // Where the unwinder does not get that far, all lines are one.
  return walk.begun ? static_cast<std::int64_t>(walk.chain) : static_cast<std::int64_t>(walk.begin);
}

}  // namespace

std::int64_t line_behind_library(const void* address) {
  return number_of(address, object_of(reinterpret_cast<std::uintptr_t>(address)));
}

std::int64_t line_behind_module(const void* address) { return number_of(address, nullptr); }

}  // namespace sibyl
