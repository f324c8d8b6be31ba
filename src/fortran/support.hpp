// What the generated C side of the Fortran modules needs. Every argument of Fortran is an address.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <type_traits>

#include "collectives/collectives.hpp"
#include "sibyl/pat.h"
#include "sibyl/sibyl.h"

namespace sibyl::fortran {

static_assert(std::is_same_v<MPI_Fint, int>, "Fortran's integers are C's in every MPI served");

// Who calls: a procedure of the module, which the program has called.
inline Caller in_module(const void* address) { return {.place = {address, &line_behind_module}}; }

// What stands for a constant in Fortran is a variable of the MPI library; the module says where.
struct Constants {
  const void* in_place;
  const void* bottom;

  void* buffer(const void* address) const {
    if (address == in_place) return MPI_IN_PLACE;
    if (address == bottom) return MPI_BOTTOM;
    return const_cast<void*>(address);
  }
};

}  // namespace sibyl::fortran
