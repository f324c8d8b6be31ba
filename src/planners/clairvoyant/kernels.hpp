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

// A process in `fast`; fast.cpp says how that works.
struct FastMember {
  std::uint32_t place = 0;    // its number in the order of (f, rank), or nowhere
  std::uint32_t sent_in = 0;  // the round in which it sent last, plus 1
  std::uint32_t left = 0;     // segments that it has not sent
};

struct FastState {
  std::size_t row_words = 0;     // of the places in a row
  std::size_t column_words = 0;  // of the segments in a column
  std::size_t planes = 0;        // digits of the counts
  std::size_t free_words = 0;
  std::uint64_t* rows = nullptr;     // segment x place: who holds it, A or P; ones for who waits
  std::uint64_t* columns = nullptr;  // rank x segment, the same
  FastMember* members = nullptr;     // per rank
  const Rank* rank_at = nullptr;     // of a place
  std::uint32_t* holders = nullptr;  // per segment: the number of members that hold it
  std::uint64_t* shared = nullptr;   // the segments that at least two members hold
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
  // From the first failed search in a round on, per unit of 512 segments: whether free holders are
  // counted, the digits of the counts, and the segments with at least one and with at least two.
  std::uint8_t* counted = nullptr;
  std::uint64_t* digits = nullptr;
  std::uint64_t* some = nullptr;
  std::uint64_t* more = nullptr;
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
  // Writes the events of a round and puts back what was received.
  FastResult (*fast_round)(FastState& state, const FastRound& round, ClairvoyantEvent* events);
};

// The kernels that this machine can run, best first; never empty.
std::span<const Kernels> supported_kernels();
// For tests: the kernels to use from now on, one of supported_kernels(). Not thread-safe.
void use_kernels(const Kernels& kernels);
const Kernels& kernels();

}  // namespace sibyl::clairvoyant
