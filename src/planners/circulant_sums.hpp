// The reduce-scatter and the allgather along a circulant graph, and around a ring, as parts of
// other algorithms.
//
// The vector has a block for each rank; after a reduce-scatter the sum of block r is complete at
// rank r. Both need an operator that commutes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planners/circulant.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// Where a rank adds up.
struct Sums {
  Buffer buffer = Buffer::scratch;
  bool holds_own = false;  // its own operands lie there from the start
};

// Calls act(first, count) for a run of blocks from `first` on, in two parts where it goes past the
// last one.
template <class Act>
void for_each_part_of_run(const Circulant& graph, Rank first, Rank count, Act act) {
  const Rank before_end = std::min(count, graph.ranks() - first);
  if (before_end > 0) act(static_cast<Unit>(first), static_cast<Unit>(before_end));
  if (count > before_end) act(Unit{0}, static_cast<Unit>(count - before_end));
}

// Idea: of the blocks that a rank still adds up, counted from its own, it gives the upper half to
// the rank as far above as that half begins. Rounds 0 to graph.rounds() - 1; a run that goes past
// the last block is two messages.
void append_circulant_sums(const Circulant& graph, Rank rank, Sums sums, ProgramBuilder& build);
// The way back: every rank gets all blocks. Begins with round graph.rounds().
void append_circulant_copies(const Circulant& graph, Rank rank, ProgramBuilder& build);
// The most messages that go from one rank to another in the two together, or in the first alone.
std::uint32_t circulant_tags(const Circulant& graph, bool both);

// A rank's seat in a ring, and the ranks in the seats before and after it.
struct RingSeat {
  Rank seats;
  Rank own;
  Rank before;
  Rank next;
};
// In a ring of all ranks, in their order.
constexpr RingSeat seat_of(Rank ranks, Rank rank) {
  return {ranks, rank, (rank + ranks - 1) % ranks, (rank + 1) % ranks};
}

// Idea: the sum of a block goes once around the ring and takes up an operand at every rank, and
// ends at the seat of its number. Blocks have `segments` units, which follow each other. Rounds 0
// to segments (seats - 1) - 1. `together` segments of every block take each step one after the
// other, and have gone around before the next ones begin.
void append_ring_sums(const RingSeat& seat, Unit segments, Unit together, Sums sums,
                      ProgramBuilder& build);
// The way back, from `round` on: every rank sends on what came from the one before, its own block
// first, all in `receive`. There are `blocks` blocks, of the first so many seats. `open`: the gate
// of what is not this rank's own.
void append_ring_copies(const RingSeat& seat, Rank blocks, Unit segments, std::uint32_t round,
                        Gate open, ProgramBuilder& build);

}  // namespace sibyl
