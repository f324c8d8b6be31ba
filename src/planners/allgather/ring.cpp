// Allgather around a ring, blocks in segments.
//
// Idea: every rank sends on to the next what came from the one before, all links busy all the time.
// Blocks in segments keep them so where blocks differ in size: the next part of a large block is
// under way while the one before it is sent on.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost in N segments a block: (p-1) (N alpha + beta m); blocks of any sizes m_i:
//   (p-2 + N (p-1)) alpha + about beta (sum of all m_i + p/N times the largest).
// Source: M. Barnett et al., Global Combine on Mesh Architectures, 1993 (the bucket collect);
//   segments as in J. L. Traeff, A. Ripke, C. Siebert, P. Balaji, R. Thakur, W. Gropp, A Pipelined
//   Algorithm for Large, Irregular All-Gather Problems, 2010.
//
// In the background a rank takes and sends on what is not its own before it has arrived.
#include "planners/allgather/allgather.hpp"
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"

namespace sibyl::allgather {

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request) {
  return ring_header(collective, request);
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  place_own_block(request, rank, program);
  ProgramBuilder build(program);
  const Gate open = request.background ? Gate::on_start : Gate::on_arrival;
  append_ring_copies(seat_of(request.ranks, rank), request.ranks, request.segments, 0, open, build);
}

template PlanHeader describe_ring<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_ring<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
