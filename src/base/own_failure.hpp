// Tells Sibyl's own lack of memory from a program's exception.
//
// Functions of the program run inside Sibyl's: error handlers, operators. What they throw passes
// unchanged, also a std::bad_alloc, though a handler for Sibyl's would take it, since types are
// compared by name. They are told apart by the C++ library that made them: Sibyl's libraries have a
// copy of their own, so the types of their exceptions lie at addresses of their own.
// Where they share the program's (sanitizer builds do), a program's std::bad_alloc is taken for
// ours.
#pragma once

#include <new>
#include <type_traits>
#include <typeinfo>

namespace sibyl {

inline bool is_own(const std::bad_alloc& failure) {
  const std::type_info* const type = &typeid(failure);
  return type == &typeid(std::bad_alloc) || type == &typeid(std::bad_array_new_length);
}

// What `body` returns, or `without_memory` where Sibyl itself runs out of it: the catch of all
// calls.
template <class Body, class Result = std::invoke_result_t<Body>>
Result guarded(Body body, std::type_identity_t<Result> without_memory) try {
  return body();
} catch (const std::bad_alloc& failure) {
  if (!is_own(failure)) throw;
  return without_memory;
}

}  // namespace sibyl
