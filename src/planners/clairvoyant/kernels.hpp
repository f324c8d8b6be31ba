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

// The state of `fast`, by place: the number of a process in the order of (f, rank). fast.cpp says
// how that works.
struct FastState {
  std::size_t row_words = 0;     // of the places in a row
  std::size_t column_words = 0;  // of the segments in a column
  std::size_t free_words = 0;
  std::uint64_t* rows = nullptr;     // segment x place: who holds it, A or P; ones for who waits
  std::uint64_t* columns = nullptr;  // place x segment, the same
  std::uint64_t* sent = nullptr;     // per place: all ones if it has sent in this round, else 0
  std::uint32_t* left = nullptr;     // per place: segments that it has not sent
  const Rank* rank_at = nullptr;     // of a place
  std::uint64_t* shared = nullptr;   // no segment is missing that at least two members hold,
  bool knows_shared = false;         // and then no other is there
  std::uint64_t* all = nullptr;      // all segments
  // Free senders of this round in places: a row of those from the head's place on, one of those
  // before it, and one of those who stand last though at the head's place.
  std::uint64_t* free = nullptr;
  // For rounds in which most members hold the same few segments: the free senders at the begin, the
  // first two segments of each member as numbers of slots and as members per slot, and more; see
  // fast_flat.inc.
  static constexpr std::size_t slots = 16;
  bool starts_flat = true;       // what served most of the last round
  std::size_t shared_begin = 0;  // words of `shared` before this one are empty
  std::uint64_t* ring = nullptr;
  std::uint64_t* lacking = nullptr;
  const std::uint64_t* present = nullptr;  // the members
  std::uint64_t* firsts = nullptr;
  std::uint64_t* seconds = nullptr;
  std::uint64_t* no_row = nullptr;
  std::uint8_t* first_slot = nullptr;
  std::uint8_t* second_slot = nullptr;
  // Counts of free holders, of each unit of segments, and their higher digits; see
  // fast_counted.inc.
  static constexpr std::size_t count_words = 11;  // per word of segments
  std::size_t high_digits = 0;
  std::uint64_t* counts = nullptr;
  std::uint64_t* high = nullptr;
};

struct FastRound {
  // The group in the order of availability, as places. Behind it stand places of empty columns up
  // to a multiple of 16.
  std::span<const std::uint32_t> order;
  std::uint32_t sink = 0;
  std::uint32_t first = 0xffffffff;  // sought before all others, if it is a place
  std::uint32_t head = 0;
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
  // Writes the events of a round and puts back what was received.
  FastResult (*fast_round)(FastState& state, const FastRound& round, ClairvoyantEvent* events);
};

// The kernels that this machine can run, best first; never empty.
std::span<const Kernels> supported_kernels();
// For tests: the kernels to use from now on, one of supported_kernels(). Not thread-safe.
void use_kernels(const Kernels& kernels);
const Kernels& kernels();

}  // namespace sibyl::clairvoyant
