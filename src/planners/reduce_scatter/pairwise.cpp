// Reduce-scatter of long vectors in rank order, by messages straight between all pairs.
//
// Idea: in round t a rank sends its operand of a block to the rank t above, whose block it is, and
// gets one from the rank t below; what comes from below stands on the left, what comes around from
// above is added up apart and put on the right at the end.
//
// p no power of two: no matter.
// Commutativity: not needed.
// In place: at any rank.
// Cost for a vector of m: (p-1) (alpha + beta m/p).
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
//   in MPICH, 2005, section 6 (pairwise exchange).
#include "planners/headers.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {

template <Collective collective>
PlanHeader describe_pairwise(const PlanRequest& request) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  PlanHeader header = plain_header(collective, "pairwise", request, others);
  header.keeps_order = true;
  return header;
}

void plan_pairwise(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  if (request.ranks == 1 && request.in_place) return;
  ProgramBuilder build(program);
  const auto own = static_cast<Unit>(rank);
  const auto units = static_cast<Unit>(request.ranks);
  const auto block = [](Buffer buffer, Unit unit) { return ProgramBuilder::slice(buffer, unit); };
  const Slice below = block(Buffer::scratch, own);
  const Slice above = block(Buffer::scratch, units + own);
  if (request.ranks > 1) program.scratch_units = 2 * units;
  Slice sum = block(Buffer::send, own);
  const auto last = static_cast<std::uint32_t>(request.ranks > 1 ? request.ranks - 2 : 0);
  for (Rank t = 1; t < request.ranks; ++t) {
    const std::uint32_t round = static_cast<std::uint32_t>(t) - 1;
    const Rank to = (rank + t) % request.ranks;
    build.send(to, block(Buffer::send, static_cast<Unit>(to)), round);
    if (t <= rank) {
      if (t == 1) {
        build.copy(below, sum, round);
        sum = below;
      }
      build.receive_combine(rank - t, below, round);
    } else if (t == rank + 1) {
      build.receive(rank - t + request.ranks, above, round);
    } else {
      build.receive_combine(rank - t + request.ranks, above, round);
    }
  }
  if (own + 1 < units) {
    build.combine(above, sum, last);
    sum = above;
  }
  build.copy(block(Buffer::receive, own), sum, last);
}

template PlanHeader describe_pairwise<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_pairwise<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
