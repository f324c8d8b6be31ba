// The line of the program behind the address to which a call returns.
//
// For a program in C that is the address. Python's modules and the Fortran bindings of MPICH, which
// call the C functions, have one address for all lines; there the interpreter or the chain of
// callers is asked (collectives/call_place.hpp).
#pragma once

#include <cstdint>

#include "preload/services.h"

namespace sibyl::preload {

// Once, before the first call.
void find_lines_by(const sibyl_preload_services& services);
// A number for it, another one for each line. Inside the call, on its thread.
std::int64_t line_of_call(const void* address);

}  // namespace sibyl::preload
