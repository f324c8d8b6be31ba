// Which MPI library a process uses, where it matters for more than the binary interface.
//
// A flavour is a binary interface. Those of Open MPI and of MPICH tell the library as well; the MPI
// standard's own (MPI 5, libmpi_abi.so) does not: any library may have it, and then the one in use
// says who it is. So one build serves them all, and a check costs a look at a number.
//
// Thread safety: any number of threads.
#pragma once

#include <mpi.h>

#include <cstdint>

// Open MPI 6 and MPICH 5 have this constant in their own interfaces as well, or will.
#if defined(MPI_ABI_VERSION) && !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#define SIBYL_STANDARD_ABI 1
#else
#define SIBYL_STANDARD_ABI 0
#endif

namespace sibyl {

enum class MpiLibrary : std::uint8_t { openmpi, mpich, simgrid, other };

#if SIBYL_STANDARD_ABI
// Asked for by the one query that MPI allows at any time, once.
MpiLibrary mpi_library();
#elif defined(OPEN_MPI)
constexpr MpiLibrary mpi_library() { return MpiLibrary::openmpi; }
#elif defined(SMPI_H)
constexpr MpiLibrary mpi_library() { return MpiLibrary::simgrid; }
#else
constexpr MpiLibrary mpi_library() { return MpiLibrary::mpich; }
#endif

// Exposed for tests: the library that describes itself so.
MpiLibrary mpi_library_of(const char* description);

}  // namespace sibyl
