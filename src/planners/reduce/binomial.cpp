// Reduce of whole vectors over a binomial tree, without segments.
//
// Idea: in round k aligned blocks of 2^k ranks join in pairs; the sum of a block lies with the root
// where it is in the block, else with the block's first rank, and one of the two sends it to the
// other.
//
// p no power of two: a block that would begin at p or beyond is missed by nobody.
// Commutativity: not needed. What comes from below stands on the left. What comes from above is
//   received into another place and combined there from the left, so the sum changes its place.
// In place: at the root.
// Cost: ceil(log2 p) (alpha + beta m), and one application of the operator a round.
// Source: the binomial tree (BNOM) that J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant, 2020,
//   section 6 compares with. The usual tree counts ranks from the root on; counted in rank order it
//   has the same rounds for every root and keeps the order of the operands.
//
// Data: a rank adds up in two places in turn, `scratch` both; the root's are `receive` and scratch.
// Which is first is such that the whole sum ends in `receive`; in place, where the vector lies in
// `receive` to begin with, it may have to be copied there.
#include "planners/reduce/binomial.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::reduce {
namespace {

// Unsigned 64-bit places: first + 2^k stays in range for every Rank.
using Place = std::uint64_t;

std::uint32_t rounds_for(Rank ranks) { return ceil_log2(static_cast<std::uint64_t>(ranks)); }

// Who holds the sum of the block of 2^round ranks that begins at `first`.
Rank holder(Place first, std::uint32_t round, Rank root) {
  const auto place = static_cast<Place>(root);
  return place >> round == first >> round ? root : static_cast<Rank>(first);
}

// The other block of the pair that the block of `rank` joins in a round, and its holder.
struct Pair {
  Pair(const PlanRequest& request, Rank rank, std::uint32_t round) {
    const Place first = static_cast<Place>(rank) >> round << round;
    const Place other = first ^ (Place{1} << round);
    exists = other < static_cast<Place>(request.ranks);
    above = other > first;
    if (exists) peer = holder(other, round, request.root);
    keeps = holder(first & other, round + 1, request.root) == rank;
  }
  bool exists;
  bool above;  // the peer's operands come after those of this rank
  bool keeps;  // this rank holds the sum of the pair
  Rank peer = no_rank;
};

// How often the root's sum goes from one place to the other after it has its first.
std::uint32_t changes_of_place(const PlanRequest& request) {
  std::uint32_t changes = 0;
  bool placed = false;
  for (std::uint32_t round = 0; round < rounds_for(request.ranks); ++round) {
    const Pair pair(request, request.root, round);
    if (!pair.exists) continue;
    if (placed && pair.above) ++changes;
    placed = true;
  }
  return changes;
}

}  // namespace

PlanHeader describe_binomial(const PlanRequest& request) {
  PlanHeader header = reduce_header("binomial", request, rounds_for(request.ranks));
  header.keeps_order = true;
  return header;
}

void plan_binomial(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const bool at_root = rank == request.root;
  program.in_place = at_root && request.in_place;
  ProgramBuilder build(program);
  const std::uint32_t rounds = rounds_for(request.ranks);

  const Slice receive = ProgramBuilder::slice(Buffer::receive, 0);
  const Slice scratch = ProgramBuilder::slice(Buffer::scratch, 0);

  // The places of the sum, and which it is in; until it has one, it is the caller's vector.
  Slice places[2] = {scratch, ProgramBuilder::slice(Buffer::scratch, 1)};
  if (at_root) {
    const bool ends_where_it_begins = changes_of_place(request) % 2 == 0;
    places[0] = program.in_place || ends_where_it_begins ? receive : scratch;
    places[1] = places[0].buffer == Buffer::receive ? scratch : receive;
  }
  std::uint32_t at = 0;
  bool placed = program.in_place;
  const auto sum = [&] { return placed ? places[at] : ProgramBuilder::slice(Buffer::send, 0); };
  const auto use = [&](const Slice& place) {
    if (place.buffer != Buffer::scratch) return;
    program.scratch_units = std::max(program.scratch_units, place.range.first + 1);
  };

  for (std::uint32_t round = 0; round < rounds; ++round) {
    const Pair pair(request, rank, round);
    if (!pair.exists) continue;
    if (!pair.keeps) {
      build.send(pair.peer, sum(), round);
      return;
    }
    const std::uint32_t next = placed && pair.above ? 1 - at : at;
    use(places[next]);
    if (pair.above) {
      build.receive(pair.peer, places[next], round);
      build.combine(places[next], sum(), round);
    } else {
      if (!placed) build.copy(places[next], sum(), round);
      build.receive_combine(pair.peer, places[next], round);
    }
    at = next;
    placed = true;
  }
  if (at_root && (!placed || places[at].buffer != Buffer::receive)) {
    build.copy(receive, sum(), rounds);
  }
}

}  // namespace sibyl::reduce
