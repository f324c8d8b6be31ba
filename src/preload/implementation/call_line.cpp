// What lies at an address is found once and kept; see call_line.hpp.
#include "preload/implementation/call_line.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "collectives/call_place.hpp"

namespace sibyl::preload {
namespace {

const sibyl_preload_services* shim = nullptr;

enum class Kind : std::uint8_t { program, python, bindings };

// Whether the object itself, not one that it needs, has Fortran's MPI_Reduce in any mangling.
bool has_fortran(const Dl_info& object) {
  void* const handle = dlopen(object.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return false;
  bool has = false;
  for (const char* name : {"mpi_reduce_", "mpi_reduce__", "mpi_reduce", "MPI_REDUCE"}) {
    Dl_info found;
    void* const function = dlsym(handle, name);
    has = has || (function != nullptr && dladdr(function, &found) != 0 &&
                  found.dli_fbase == object.dli_fbase);
  }
  dlclose(handle);
  return has;
}

Kind find_kind(const void* address) {
  Dl_info object;
  if (dladdr(address, &object) == 0) return Kind::program;
  if (shim->python_module(object.dli_fname) != 0) return Kind::python;
  return has_fortran(object) ? Kind::bindings : Kind::program;
}

// Programs have few such addresses; beyond what there is room for they are found anew at each call.
// The kind stands in bits that no address has.
Kind kind_of(const void* address) {
  constexpr int kind_at = 56;
  constexpr std::uintptr_t of_address = (std::uintptr_t{1} << kind_at) - 1;
  constexpr std::size_t looked_at = 16;
  static std::array<std::atomic<std::uintptr_t>, 256> known{};
  const auto wanted = reinterpret_cast<std::uintptr_t>(address) & of_address;
  std::atomic<std::uintptr_t>* room = nullptr;
  for (std::size_t i = 0; i < looked_at && room == nullptr; ++i) {
    std::atomic<std::uintptr_t>& entry = known[(wanted / 4 + i) % known.size()];
    const std::uintptr_t there = entry.load(std::memory_order_relaxed);
    if ((there & of_address) == wanted) return static_cast<Kind>(there >> kind_at);
    if (there == 0) room = &entry;
  }
  const Kind kind = find_kind(address);
  if (room != nullptr) {
    room->store(wanted | static_cast<std::uintptr_t>(kind) << kind_at, std::memory_order_relaxed);
  }
  return kind;
}

}  // namespace

void find_lines_by(const sibyl_preload_services& services) { shim = &services; }

std::int64_t line_of_call(const void* address) {
  const Kind kind = kind_of(address);
  if (kind == Kind::bindings) return line_behind_library(address);
  const std::int64_t line = kind == Kind::python ? shim->python_line() : 0;
  return line != 0 ? line : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace sibyl::preload
