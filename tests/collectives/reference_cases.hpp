// Random calls of the collectives beside a serial reference that asks the MPI library for nothing.
//
// A case follows from a seed and the number of ranks alone: every rank draws the same one, knows
// what all ranks put in, and so what it must get, without a message. Whoever runs cases hands in
// the functions to call: Sibyl's in the unit tests, MPI's own names in the program that runs under
// the preload.
#pragma once

#include <string>
#include <vector>

#include "collectives/reference_buffers.hpp"
#include "collectives/reference_operators.hpp"

namespace sibyl::reference {

enum class Call : std::uint8_t {
  gather,
  scatter,
  gatherv,
  scatterv,
  bcast,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier,
  reduce,
  scan,
  exscan,
  allreduce,
  reduce_scatter,
  reduce_scatter_block
};
constexpr std::size_t call_count = 16;
const char* name_of(Call call);
// Three kinds besides the barrier.
constexpr bool moves_blocks_of_root(Call call) { return call <= Call::scatterv; }
constexpr bool exchanges(Call call) { return call >= Call::bcast && call <= Call::alltoallv; }
constexpr bool reduces(Call call) { return call >= Call::reduce; }
constexpr bool is_irregular(Call call) {
  return call == Call::gatherv || call == Call::scatterv || call == Call::allgatherv ||
         call == Call::alltoallv;
}

struct Library {
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Scatter) scatter;
  decltype(&MPI_Gatherv) gatherv;
  decltype(&MPI_Scatterv) scatterv;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Allgatherv) allgatherv;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Alltoallv) alltoallv;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Scan) scan;
  decltype(&MPI_Exscan) exscan;
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce_scatter) reduce_scatter;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
};

// What a library cannot do natively, and so is not asked for (reference_limits.cpp says which and
// why). The comparison knows no limits.
struct Limits {
  TypeLimits types;
  std::size_t largest = 100000;  // bytes of a block or vector
  // Bytes of a message whose signature has basic types of several sizes.
  std::size_t largest_mixed = 10000000;
  std::size_t largest_gathered = 10000000;  // bytes of all blocks of an allgatherv
  std::size_t largest_swapped = 10000000;   // bytes of a block of an all-to-all in place
  bool garbage_where_not_significant = true;
  bool bottom = true;                 // MPI_BOTTOM with a type of absolute addresses
  bool in_place_at_any_root = true;   // of a reduce
  bool gaps_of_pairs = true;          // MINLOC and MAXLOC on types with padding
  bool element_sizes_differ = true;   // between the ranks and sides of an allgatherv
  bool places_of_one_rank = true;     // of an allgatherv
  bool products_scattered = true;     // reduce-scatters by operators that do not commute
  bool derived_sums_for_all = true;   // sums for all ranks by a user's operator on a derived type
  bool derived_sums_at_root = true;   // the same at one rank
  bool gathers_interleaved = true;    // blocks of which a gather is made
  bool derived_swaps_of_many = true;  // an all-to-all of derived types on more than 12 ranks
  std::size_t basics = basic_count;   // the first so many
  bool in_place_at_some = true;       // of sums for all ranks, at some of them only
};
// The limits of the MPI library that runs, where its own collectives take the calls.
Limits native_limits();
// Those where Sibyl takes them, and its choice may be the MPI library's own collective.
Limits sibyl_limits(bool may_be_native);

// Gather, scatter, gatherv, scatterv. A block's signature is `unit` so many times; either side may
// put several units into one element of its type.
struct BlockCase {
  Call call = Call::gather;
  int ranks = 1;
  int root = 0;
  bool in_place = false;
  std::uint64_t seed = 0;
  Signature unit;
  std::vector<int> units;          // of each rank's block
  int root_units = 1;              // in an element of the root's type
  std::vector<int> own_units;      // in an element of each rank's own type
  std::vector<int> displacements;  // of blocks at the root, in extents
  bool sends_overlap = false;      // elements of a send buffer share bytes
  bool root_bottom = false;
  std::vector<bool> own_bottom;
  bool garbage = false;  // where an argument is not significant
};
BlockCase draw_block_case(Call call, int ranks, std::uint64_t seed, const Limits& limits);
std::string describe(const BlockCase& now, const Limits& limits);
// Collective; empty when all is as it must be on this rank.
std::string run(const BlockCase& now, const Limits& limits, const Library& library, MPI_Comm comm);

// Bcast, allgather, allgatherv, alltoall, alltoallv. Every rank has types of its own on both sides.
struct ExchangeCase {
  Call call = Call::bcast;
  int ranks = 1;
  int root = 0;
  bool in_place = false;  // at all ranks
  std::uint64_t seed = 0;
  Signature unit;
  std::vector<std::vector<int>> units;  // of the block from one rank to another
  // By rank: units in an element of its types, and where its blocks lie, in extents.
  std::vector<int> send_units;
  std::vector<int> receive_units;
  std::vector<std::vector<int>> send_places;
  std::vector<std::vector<int>> receive_places;
  bool sends_overlap = false;  // elements of an own block that goes to all share bytes
  std::vector<bool> send_bottom;
  std::vector<bool> receive_bottom;
  bool garbage = false;  // where an argument is not significant
};
ExchangeCase draw_exchange_case(Call call, int ranks, std::uint64_t seed, const Limits& limits);
std::string describe(const ExchangeCase& now, const Limits& limits);
std::string run(const ExchangeCase& now, const Limits& limits, const Library& library,
                MPI_Comm comm);

struct ReductionCase {
  Call call = Call::reduce;
  int ranks = 1;
  int root = 0;
  std::vector<bool> in_place;  // of a reduce only the root's counts
  std::uint64_t seed = 0;
  Operator op = Operator::sum;
  const OperandType* operand = nullptr;  // of a predefined operator
  Signature signature;                   // of an element of a user's operator
  int count = 0;                         // of the whole vector
  std::vector<int> counts;               // of a reduce-scatter: of the ranks' blocks
  bool garbage = false;
};
ReductionCase draw_reduction_case(Call call, int ranks, std::uint64_t seed, const Limits& limits);
std::string describe(const ReductionCase& now, const Limits& limits);
std::string run(const ReductionCase& now, const Limits& limits, const Library& library,
                MPI_Comm comm);

// Any of them, and the barrier: empty when all is right, else what is wrong and with what case.
std::string run_drawn(Call call, std::uint64_t seed, const Limits& limits, const Library& library,
                      MPI_Comm comm);

// How many bytes a block or vector shall have: around the sizes at which algorithms and engines
// change, often nothing or little, seldom much.
std::size_t draw_bytes(Random& random, std::size_t largest);

// What is passed for arguments that are not significant.
inline void* wild() { return reinterpret_cast<void*>(0xdead0); }
constexpr int wild_count = -5;

}  // namespace sibyl::reference
