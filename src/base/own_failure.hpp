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
#include <typeinfo>

namespace sibyl {

inline bool is_own(const std::bad_alloc& failure) {
  const std::type_info* const type = &typeid(failure);
  return type == &typeid(std::bad_alloc) || type == &typeid(std::bad_array_new_length);
}

}  // namespace sibyl
