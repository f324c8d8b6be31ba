// The inner loops over bit words, compiled once per instruction set into one binary.
//
// kernels_<set>.cpp include kernels.inc under the instruction set's compiler options, each in a
// namespace of its own; what they export is a table of functions. The table is chosen at run time,
// so that one library serves plain 64-bit machines, AVX2 and AVX-512; on ARM the plain kernels are
// compiled to NEON, which every 64-bit ARM has. (Highway would do this too, but Debian's brings a
// shared library into every program that Sibyl is loaded into.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sibyl/clairvoyant.hpp"

namespace sibyl::clairvoyant {

// A segment tree over bit columns: node 1 is the root, the children of n are 2n and 2n + 1, leaf i
// is node `width` + i, and every node holds the OR of its children. Nodes from `nodes` on are not
// stored; they are empty.
struct BitTree {
  std::uint64_t* bits = nullptr;  // of node n: bits + n * words
  std::size_t words = 0;
  std::size_t width = 1;  // a power of two
  std::size_t nodes = 2;
};

// What `fast` works on; fast.cpp says how. A place is a process's number in the order of (f, rank).
struct FastState {
  std::size_t row_words = 0;     // of the places in a row
  std::size_t column_words = 0;  // of the segments in a column
  std::size_t planes = 0;        // digits of the counts
  std::uint64_t* rows =
      nullptr;  // segment x place: who holds it, A or P; ones for who has not joined
  std::uint64_t* held = nullptr;  // rank x segment, the same
  // Per segment the number of members that hold it, and of those the free ones in this round: digit
  // k of the counts of 64 segments is a word of plane k.
  std::uint64_t* holders = nullptr;
  std::uint64_t* free_holders = nullptr;
  std::uint64_t* some = nullptr;  // segments with at least one free holder
  std::uint64_t* more = nullptr;  // segments with at least two
  // Free senders of this round in places: from the head's place on, and (row_words later) before
  // it.
  std::uint64_t* free = nullptr;
  std::uint64_t* late = nullptr;  // places of those who stand last though at the head's place
  const std::uint32_t* place = nullptr;  // of a rank
  const Rank* rank_at = nullptr;         // of a place
  std::uint32_t* left = nullptr;         // per rank: segments that it has not sent
};

struct FastRound {
  std::span<const Rank> group;
  Rank sink = no_rank;
  Rank first = no_rank;    // sought before all others, or no_rank
  std::uint32_t head = 0;  // place of the head
  bool has_late = false;
  std::uint32_t round = 0;
};

struct FastResult {
  std::size_t count = 0;
  bool completed = false;  // somebody has sent its last segment
};

struct Kernels {
  std::string_view name;
  // All inner nodes from the leaves.
  void (*build)(const BitTree& tree);
  // The inner nodes above a leaf.
  void (*update)(const BitTree& tree, std::size_t leaf);
  // out = OR of all leaves but one.
  void (*all_except)(const BitTree& tree, std::size_t leaf, std::uint64_t* out);
  // Begins the counts of a round, writes its events, and puts back what was received.
  FastResult (*fast_round)(FastState& state, const FastRound& round, ClairvoyantEvent* events);
  // Somebody who holds everything joins.
  void (*fast_join)(FastState& state);
};

// The kernels that this machine can run, best first; never empty.
std::span<const Kernels> supported_kernels();
// For tests: the kernels to use from now on, one of supported_kernels(). Not thread-safe.
void use_kernels(const Kernels& kernels);
const Kernels& kernels();

}  // namespace sibyl::clairvoyant
