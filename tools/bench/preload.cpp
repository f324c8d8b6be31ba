// Loads the preload without putting it in front of the MPI library; see preload.hpp.
#include "bench/preload.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace sibyl::bench {
namespace {

void* load() {
  if (std::string_view(SIBYL_FLAVOUR) == "smpi") return nullptr;  // which no preload serves
  namespace fs = std::filesystem;
  const char* const told = std::getenv("SIBYL_LIBRARY_DIR");
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path prefix = own.parent_path().parent_path();
  std::vector<fs::path> directories{prefix / SIBYL_LIBDIR, prefix / "lib"};  // installed, built
  if (told != nullptr && *told != '\0') directories = {told};
  for (const fs::path& directory : directories) {
    void* const found = dlopen((directory / "libsibyl-preload.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (found != nullptr) return found;
  }
  return nullptr;
}

void* preload() {
  static void* const loaded = load();
  return loaded;
}

}  // namespace

bool has_preload() {
  int found = preload() != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return found != 0;
}

void* preload_entry(const char* name) {
  return preload() != nullptr ? dlsym(preload(), name) : nullptr;
}

}  // namespace sibyl::bench
