// Reduce-scatter along a circulant graph, and around a ring.
//
// Idea: along the graph a rank gives the upper half of the blocks that it still adds up to a rank
// far above, then half of the rest to one half as far. Around the ring the sum of a block takes up
// one operand at every rank and ends where it belongs, blocks in segments where they are large or
// differ in size.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a block begins at any rank.
// In place: at any rank.
// Cost for a vector of m: circulant ceil(log2 p) alpha + (p-1)/p beta m; ring in N segments a block
//   (p-1) (N alpha + beta m/p).
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024
//   (arXiv 2410.14234), algorithm 1; M. Barnett et al., Global Combine on Mesh Architectures, 1993.
#include <algorithm>

#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"
#include "planners/parts.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {
namespace {

void begin(const PlanRequest& request, Unit units, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  if (request.ranks > 1) program.scratch_units = units;
}

// The block of this rank, from scratch or, alone, from the caller's vector.
void put_block(const PlanRequest& request, Rank rank, Program& program, std::uint32_t round) {
  if (request.ranks == 1 && request.in_place) return;
  const Buffer from = request.ranks == 1 ? Buffer::send : Buffer::scratch;
  const Unit first = static_cast<Unit>(rank) * request.segments;
  ProgramBuilder(program).copy(ProgramBuilder::slice(Buffer::receive, first, request.segments),
                               ProgramBuilder::slice(from, first, request.segments), round);
}

}  // namespace

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request) {
  const Circulant graph(request.ranks);
  PlanHeader header = plain_header(collective, "circulant", request, graph.rounds());
  header.tag_span = circulant_tags(graph, false);
  header.one_ported = false;  // a run of blocks that goes past the last one is two messages
  return header;
}

void plan_circulant(const PlanRequest& request, Rank rank, Program& program) {
  begin(request, static_cast<Unit>(request.ranks), program);
  ProgramBuilder build(program);
  const Circulant graph(request.ranks);
  append_circulant_sums(graph, rank, {Buffer::scratch, false}, build);
  put_block(request, rank, program, graph.rounds() == 0 ? 0 : graph.rounds() - 1);
}

std::string check_ring(const PlanRequest& request) {
  const std::string wrong = check_segments_of_blocks(request);
  return wrong.empty() ? check_part_per_rank(request) : wrong;
}

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  PlanHeader header = plain_header(collective, "ring", request, others * request.segments);
  header.segments = request.segments;
  header.tag_span = std::max<std::uint32_t>(1, others * request.segments);
  return header;
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  begin(request, static_cast<Unit>(request.ranks) * request.segments, program);
  ProgramBuilder build(program);
  append_ring_sums(request.ranks, rank, request.segments, {Buffer::scratch, false}, build);
  const std::uint32_t rounds = static_cast<std::uint32_t>(request.ranks - 1) * request.segments;
  put_block(request, rank, program, rounds == 0 ? 0 : rounds - 1);
}

template PlanHeader describe_circulant<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_circulant<Collective::reduce_scatter_block>(const PlanRequest&);
template PlanHeader describe_ring<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_ring<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
