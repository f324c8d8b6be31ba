// Reads the MPI library's description of itself; see mpi_library.hpp.
#include "executor/mpi_library.hpp"

#include <string_view>

namespace sibyl {

// Intel's and MVAPICH's libraries are MPICH's kin.
MpiLibrary mpi_library_of(const char* description) {
  const std::string_view text = description;
  const auto names = [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  };
  if (names("Open MPI")) return MpiLibrary::openmpi;
  if (names("MPICH") || names("Intel(R) MPI") || names("MVAPICH")) return MpiLibrary::mpich;
  return MpiLibrary::other;
}

#if SIBYL_STANDARD_ABI
MpiLibrary mpi_library() {
  static const MpiLibrary library = [] {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    const bool known = PMPI_Get_library_version(text, &length) == MPI_SUCCESS;
    return known ? mpi_library_of(text) : MpiLibrary::other;
  }();
  return library;
}
#endif

}  // namespace sibyl
