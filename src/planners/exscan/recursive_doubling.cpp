// Exclusive scan by recursive doubling.
//
// Idea: in round k the ranks of an aligned block of 2^(k+1) that differ in bit k exchange the
// totals of their halves. The upper half puts what it receives on the left of its prefix W; all
// ranks join the two totals while a rank above the block still needs them.
//
// p no power of two: a block that ends at p or beyond needs no total, so a missing partner is
//   missed by nobody; whoever sits above a block has all its partners below.
// Commutativity: not needed; what comes from below stands on the left, what comes from above on the
//   right.
// Cost: ceil(log2 p) (alpha + beta m), and up to two applications of the operator a round. Where
//   nodes hold 2^j consecutive ranks, the first j rounds stay within nodes, which no algorithm that
//   shifts by a fixed distance can do.
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
//   in MPICH, IJHPCA 19(1), 2005, section 4 (recursive doubling); MPICH's MPI_Exscan. Here the
//   exchanges whose totals nobody needs are left out.
//
// Rank 0 has no prefix and never names its receive buffer, except as in-place input. The total
// lives where it was formed: what comes from above is received into a slot and combined there, so
// that the total changes slots and the next receive does not wait for the send of the last one.
#include "planners/exscan/recursive_doubling.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::exscan {
namespace {

std::uint32_t rounds_for(Rank ranks) { return ceil_log2(static_cast<std::uint64_t>(ranks)); }

// Whether a rank above the block of 2^(round+1) that holds `rank` waits for its total.
bool total_is_needed(Rank rank, std::uint32_t round, Rank ranks) {
  const std::int64_t block = std::int64_t{rank} >> (round + 1);
  return ((block + 1) << (round + 1)) < ranks;
}

}  // namespace

std::uint32_t recursive_doubling_applications(Rank ranks) {
  const std::uint32_t rounds = rounds_for(ranks);
  return rounds < 2 ? 0 : 2 * rounds - 3;
}

PlanHeader describe_recursive_doubling(const PlanRequest& request) {
  return scan_header(Collective::exscan, "recursive-doubling", request, rounds_for(request.ranks));
}

void plan_recursive_doubling(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Slice prefix = ProgramBuilder::slice(Buffer::receive, 0);                             // W
  Slice total = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);  // V
  bool total_is_ours = false;  // in scratch: may be combined into
  bool has_prefix = false;
  Unit slots = 0;
  const auto new_slot = [&] { return ProgramBuilder::slice(Buffer::scratch, slots++); };
  // The slot that is not the total: received into and given up in turn.
  Slice spare = Slice{};
  const auto take_spare = [&] {
    const Slice slot = spare.range.count != 0 ? spare : new_slot();
    spare = Slice{};
    return slot;
  };
  if (request.in_place && rank > 0 && rank + 1 < request.ranks) {
    // W arrives where V lies.
    const Slice saved = new_slot();
    build.copy(saved, total, 0);
    total = saved;
    total_is_ours = true;
  }

  for (std::uint32_t round = 0; round < rounds_for(request.ranks); ++round) {
    const Rank peer = rank ^ static_cast<Rank>(Rank{1} << round);
    const bool needed = total_is_needed(rank, round, request.ranks);
    if (peer > rank) {
      if (peer < request.ranks) build.send(peer, total, round);
      if (!needed) continue;
      const Slice joined = take_spare();
      build.receive(peer, joined, round);
      build.combine(joined, total, round);
      if (total_is_ours) spare = total;
      total = joined;
      total_is_ours = true;
      continue;
    }
    if (!needed) {
      if (has_prefix) {
        build.receive_combine(peer, prefix, round);
      } else {
        build.receive(peer, prefix, round);
      }
      has_prefix = true;
      continue;
    }
    build.send(peer, total, round);
    const Slice below = take_spare();
    build.receive(peer, below, round);
    if (!total_is_ours) {
      const Slice own = new_slot();
      build.copy(own, total, round);
      total = own;
      total_is_ours = true;
    }
    build.combine(total, below, round);  // first: the next round sends it
    if (has_prefix) {
      build.combine(prefix, below, round);
    } else {
      build.copy(prefix, below, round);
    }
    has_prefix = true;
    spare = below;
  }
  program.scratch_units = slots;
}

}  // namespace sibyl::exscan
