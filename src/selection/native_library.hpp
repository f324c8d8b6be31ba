// The MPI libraries that choices within a node know: where their own collectives there were
// measured beside Sibyl's (choose_within.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl {

enum class NativeLibrary : std::uint8_t {
  other,      // unknown, or never measured within a node
  openmpi_4,  // 4.0 and 4.1
  openmpi_5,  // and later
  mpich_40,   // 4.0
  mpich_41,   // 4.1 to 4.3: taken to be as good as 4.0 and as 5.0
  mpich_5,    // and later
};

// By what MPI_Get_library_version says. Its kin - Intel's, Cray's, MVAPICH - are not MPICH here.
NativeLibrary native_library_of(std::string_view description);

}  // namespace sibyl
