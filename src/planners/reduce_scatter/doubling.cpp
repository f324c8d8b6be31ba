// Reduce-scatter of small vectors: all ranks get the whole sum, in the fewest rounds there can be,
// and keep their block.
//
// p no power of two: no matter; see doubling_sums.hpp.
// Commutativity: not needed.
// In place: at any rank.
// Cost for a vector of m: as the allreduce of that name.
// Source: recursive multiplying, M. Ruefenacht, M. Bull, S. Booth, Generalisation of Recursive
//   Doubling for AllReduce, 2017.
#include "planners/doubling_sums.hpp"
#include "planners/headers.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {

template <Collective collective>
PlanHeader describe_doubling(const PlanRequest& request) {
  PlanHeader header = plain_header(collective, "doubling", request, doubling_rounds(request.ranks));
  header.keeps_order = true;
  return header;
}

void plan_doubling(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  if (request.ranks == 1 && request.in_place) return;
  const auto units = static_cast<Unit>(request.ranks);
  const Slice sum = append_doubling_sums(request.ranks, rank, units, Buffer::send, false, program);
  const auto own = static_cast<Unit>(rank);
  const std::uint32_t rounds = doubling_rounds(request.ranks);
  ProgramBuilder(program).copy(ProgramBuilder::slice(Buffer::receive, own),
                               ProgramBuilder::slice(sum.buffer, sum.range.first + own),
                               rounds == 0 ? 0 : rounds - 1);
}

template PlanHeader describe_doubling<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_doubling<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
