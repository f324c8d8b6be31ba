// Reads what an MPI library says of itself; see native_library.hpp.
#include "selection/native_library.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace sibyl {
namespace {

struct Release {
  int major = 0;
  int minor = 0;
};

// After `name` and blanks; 0.0 where that is not how the text begins.
Release release_after(std::string_view name, std::string_view text) {
  if (!text.starts_with(name)) return {};
  text.remove_prefix(name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Release found;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [dot, error] = std::from_chars(begin, end, found.major);
  if (error != std::errc{} || dot == end || *dot != '.') return {};
  std::from_chars(dot + 1, end, found.minor);
  return found;
}

}  // namespace

NativeLibrary native_library_of(std::string_view description) {
  const Release openmpi = release_after("Open MPI v", description);
  if (openmpi.major >= 5) return NativeLibrary::openmpi_5;
  if (openmpi.major == 4) return NativeLibrary::openmpi_4;
  const Release mpich = release_after("MPICH Version:", description);
  if (mpich.major >= 5) return NativeLibrary::mpich_5;
  if (mpich.major == 4) return mpich.minor == 0 ? NativeLibrary::mpich_40 : NativeLibrary::mpich_41;
  return NativeLibrary::other;
}

}  // namespace sibyl
