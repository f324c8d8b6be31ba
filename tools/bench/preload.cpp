// Loads the preload without putting it in front of the MPI library; see preload.hpp.
#include "bench/preload.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace sibyl::bench {
namespace {

void* load() {
  if (std::string_view(SIBYL_FLAVOUR) == "smpi") return nullptr;  // which no preload serves
  namespace fs = std::filesystem;
  const char* const told = std::getenv("SIBYL_LIBRARY_DIR");
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path directory =
      told != nullptr && *told != '\0' ? fs::path(told) : own.parent_path().parent_path() / "lib";
  return dlopen((directory / "libsibyl-preload.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* preload() {
  static void* const loaded = load();
  return loaded;
}

}  // namespace

bool has_preload() { return preload() != nullptr; }

void* preload_entry(const char* name) { return has_preload() ? dlsym(preload(), name) : nullptr; }

}  // namespace sibyl::bench
