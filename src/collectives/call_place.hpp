// Where in the program a call is made, so that equal calls on several lines can be told apart.
//
// For most programs that is the address to which the call returns. Where all lines return to one -
// in bindings, or an interpreter - somebody else tells them apart; that may take microseconds, so
// only the rank that needs it asks, and only while it needs it.
#pragma once

#include <cstdint>

namespace sibyl {

struct CallPlace {
  const void* address = nullptr;  // to which the call returns; nullptr: not known
  // A number for the line behind that address, another one for each; nullptr: the address will do.
  // Called inside the call, on its thread.
  std::int64_t (*line_behind)(const void* address) = nullptr;

  // 0: not known.
  std::int64_t number() const {
    if (address == nullptr || line_behind == nullptr) {
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
    }
    return line_behind(address);
  }
};

// For calls that return into a language's bindings: a number for the chain of callers from there
// on. Of bindings that are an object of their own (a library), up to the first caller outside of
// it; of those that were compiled with the program, one caller further.
std::int64_t line_behind_library(const void* address);
std::int64_t line_behind_module(const void* address);

}  // namespace sibyl
