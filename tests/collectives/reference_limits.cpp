// What is drawn for every case, and what the MPI libraries cannot do; see reference_cases.hpp.
#include <array>
#include <cstdlib>
#include <cstring>

#include "collectives/reference_cases.hpp"

namespace sibyl::reference {

const char* name_of(Call call) {
  constexpr std::array names{"gather", "scatter", "gatherv", "scatterv",
                             "reduce", "scan",    "exscan"};
  return names[static_cast<std::size_t>(call)];
}

std::size_t draw_bytes(Random& random, std::size_t largest) {
  const auto near = [&](std::ptrdiff_t bytes) {
    return static_cast<std::size_t>(bytes + between(random, -16, 16));
  };
  std::size_t bytes = 0;
  const std::uint64_t scale = pick(random, 20);
  if (scale < 1) {
    bytes = 0;
  } else if (scale < 8) {
    bytes = 1 + pick(random, 64);
  } else if (scale < 13) {
    bytes = pick(random, 1200);
  } else if (scale < 15) {
    bytes = near(4096);
  } else if (scale < 17) {
    bytes = pick(random, 12000);
  } else if (scale < 18) {
    bytes = near(16384);
  } else if (scale < 19) {
    bytes = near(65536);
  } else {
    bytes = pick(random, 100000);
  }
  return bytes < largest ? bytes : largest;
}

namespace {

// What messages themselves cannot do, whoever sends them.
Limits message_limits() {
  Limits limits;
#ifndef OPEN_MPI
  // MPICH 4.0 over UCX ends the receive of some types of mixed sizes with "message truncated",
  // often where a message goes in pieces of about 8 KiB and one ends inside an element, once at
  // 1600 bytes. MPI_2INT counts as one element of eight bytes there: a structure of it and MPI_INT
  // is mixed too. A receive of 8272 such bytes between two ranks fails so without Sibyl.
  limits.largest_mixed = 500;
  limits.types.integer_pairs = false;
#endif
  return limits;
}

}  // namespace

// Found by running reference_fuzz (tests/preload/programs) without Sibyl.
Limits native_limits() {
  Limits limits;
  // Both libraries work out the room of temporary vectors for elements that go upwards in memory,
  // and write past it where they go downwards.
  limits.types.negative_extents = false;
#ifdef OPEN_MPI
  // A block that a rank sends to itself, from one derived type into another, goes in pieces of
  // 64 KiB, and bytes around the end of a piece inside an element are mixed up.
  limits.largest = 65000;
#else
  // MPICH 4.0's reduce in place at other roots than 0 crashes.
  limits.in_place_at_any_root = false;
  limits.largest_mixed = message_limits().largest_mixed;
  limits.types.integer_pairs = message_limits().types.integer_pairs;
#endif
  return limits;
}

Limits sibyl_limits(bool may_be_native) {
  return may_be_native ? native_limits() : message_limits();
}

}  // namespace sibyl::reference
