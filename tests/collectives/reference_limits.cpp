// What is drawn for every case, and what the MPI libraries cannot do; see reference_cases.hpp.
#include <array>
#include <chrono>
#include <thread>

#include "collectives/reference_sides.hpp"

namespace sibyl::reference {

const char* name_of(Call call) {
  constexpr std::array<const char*, call_count> names{
      "gather",    "scatter",   "gatherv",        "scatterv",
      "bcast",     "allgather", "allgatherv",     "alltoall",
      "alltoallv", "barrier",   "reduce",         "scan",
      "exscan",    "allreduce", "reduce_scatter", "reduce_scatter_block"};
  return names[static_cast<std::size_t>(call)];
}

namespace {

// Nobody leaves a barrier before all have come to it, by the one clock that all ranks share.
// Whether they do is known at all ranks.
std::string run_barrier(std::uint64_t seed, const Library& library, MPI_Comm comm) {
  using Clock = std::chrono::steady_clock;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Random random(seed + static_cast<std::uint64_t>(rank));
  const auto until = Clock::now() + std::chrono::microseconds(pick(random, 800));
  if (one_in(random, 3)) std::this_thread::sleep_until(until);
  const auto since_start = [] {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  };
  double times[2] = {since_start(), 0};
  std::string wrong = text_of_error(library.barrier(comm));
  times[1] = -since_start();
  double latest[2];
  PMPI_Allreduce(times, latest, 2, MPI_DOUBLE, MPI_MAX, comm);
  if (latest[0] > -latest[1]) {
    wrong += "somebody left " + std::to_string(latest[0] + latest[1]) + " s before the last came\n";
  }
  return wrong;
}

template <class Case>
std::string run_and_tell(const Case& now, const Limits& limits, const Library& library,
                         MPI_Comm comm) {
  const std::string wrong = run(now, limits, library, comm);
  return wrong.empty() ? wrong : wrong + describe(now, limits);
}

}  // namespace

std::string run_drawn(Call call, std::uint64_t seed, const Limits& limits, const Library& library,
                      MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  if (call == Call::barrier) return run_barrier(seed, library, comm);
  if (moves_blocks_of_root(call)) {
    return run_and_tell(draw_block_case(call, ranks, seed, limits), limits, library, comm);
  }
  if (exchanges(call)) {
    return run_and_tell(draw_exchange_case(call, ranks, seed, limits), limits, library, comm);
  }
  return run_and_tell(draw_reduction_case(call, ranks, seed, limits), limits, library, comm);
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
#ifdef OPEN_MPI
#if OMPI_MAJOR_VERSION >= 5
  // Open MPI 5.0 mixes up the bytes of some types of 16-byte numbers in messages of more than one
  // piece, one case of eight.
  limits.basics = static_cast<std::size_t>(Basic::double_complex);
#endif
#else
  // MPICH 4.0 over UCX ends the receive of some types of mixed sizes with "message truncated",
  // often where a message goes in pieces of about 8 KiB and one ends inside an element, once at
  // 1600 bytes. MPI_2INT and MPI_FLOAT_INT count as one element of eight bytes there: a structure
  // of them and MPI_INT is mixed too. A receive of 8272 such bytes between two ranks fails so
  // without Sibyl.
  limits.largest_mixed = 500;
  limits.types.pairs_of_one_size = false;
#if MPICH_NUMVERSION >= 50000000 || defined(MPI_ABI_VERSION)
  // MPICH 5.0 ends so also with elements of one basic type that are not side by side, where a piece
  // ends inside one: seen from 16 KiB on.
  limits.largest = 8000;
#endif
#endif
  return limits;
}

}  // namespace

// Found by running reference_fuzz (tests/preload/programs) without Sibyl.
Limits native_limits() {
  Limits limits = message_limits();
  // Both libraries work out the room of temporary vectors for elements that go upwards in memory,
  // and write past it where they go downwards.
  limits.types.negative_extents = false;
#ifdef OPEN_MPI
  // A block that a rank sends to itself, from one derived type into another, goes in pieces of
  // 64 KiB, and bytes around the end of a piece inside an element are mixed up.
  limits.largest = 65000;
  // Allgatherv's algorithm is chosen by the counts of the receive buffer and the element of the
  // send buffer, and so differently where they differ between ranks: it hangs.
  limits.element_sizes_differ = false;
  // Rings have temporary vectors for elements that begin where they are said to, and write beside
  // them where a lower bound is not 0.
  limits.derived_sums_for_all = false;
  // Inner ranks of a gather's tree put blocks of others in a row of their own type, over one
  // another where its elements interleave.
  limits.gathers_interleaved = false;
  // Bruck's all-to-all has temporary blocks for elements without gaps, and writes past them; and it
  // copies what is sent as elements of the receive buffer's type, so that it crashes where one of
  // the two holds addresses (16 ranks, 4 to 512 bytes; also natively).
  limits.derived_swaps_of_many = false;
#else
  // MPICH 4.0's reduce in place at other roots than 0 crashes.
  limits.in_place_at_any_root = false;
  // Blocks that change places are packed at one end only, which is as if types were mixed.
  limits.largest_swapped = 4000;
  // From 80 KiB in all its allgatherv is a ring, which sends blocks in pieces of so many elements
  // as are 32 KiB by their extent at the own rank: pieces that differ between ranks are truncated.
  limits.largest_gathered = 80000;
  // Its allgatherv of one rank puts the block at the begin, whatever the displacement.
  limits.places_of_one_rank = false;
  // A reduce-scatter by an operator that does not commute has temporary vectors for elements
  // without gaps at their ends, and writes past them where there are some.
  limits.products_scattered = false;
  // The standard wants it at all ranks or none (an allreduce), and its reduce-scatters do, too.
  limits.in_place_at_some = false;
#if MPICH_NUMVERSION >= 50000000 || defined(MPI_ABI_VERSION) || defined(I_MPI_NUMVERSION)
  // The sums of MPICH 5.0 and Intel MPI have temporary vectors for elements that begin where they
  // are said to, and write beside them where a lower bound is not 0.
  limits.derived_sums_at_root = false;
  limits.derived_sums_for_all = false;
#endif
#endif
  return limits;
}

Limits sibyl_limits(bool may_be_native) {
  return may_be_native ? native_limits() : message_limits();
}

}  // namespace sibyl::reference
