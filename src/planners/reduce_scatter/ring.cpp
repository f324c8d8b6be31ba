// Reduce-scatter around a ring, blocks in segments.
//
// Idea: the sum of a block takes up one operand at every rank of the ring and ends where it
// belongs; in segments where blocks are large or differ in size.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a block begins at any rank.
// In place: at any rank.
// Cost for a vector of m in N segments a block: (p-1) (N alpha + beta m/p).
// Source: M. Barnett et al., Global Combine on Mesh Architectures, 1993.
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"
#include "planners/parts.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request) {
  return ring_header(collective, request);
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  begin_sums(request, static_cast<Unit>(request.ranks) * request.segments, program);
  ProgramBuilder build(program);
  append_ring_sums(seat_of(request.ranks, rank), request.segments, request.segments,
                   {Buffer::scratch, false}, build);
  const std::uint32_t rounds = static_cast<std::uint32_t>(request.ranks - 1) * request.segments;
  put_own_block(request, rank, program, rounds == 0 ? 0 : rounds - 1);
}

template PlanHeader describe_ring<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_ring<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
