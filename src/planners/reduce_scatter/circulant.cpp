// Reduce-scatter along a circulant graph.
//
// Idea: a rank gives the upper half of the blocks that it still adds up to a rank far above, then
// half of the rest to one half as far, until only its own is left.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a block begins at any rank.
// In place: at any rank.
// Cost for a vector of m: ceil(log2 p) alpha + (p-1)/p beta m; an alpha more in each round whose
//   blocks go past the last rank: they are two messages, before and behind it.
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024
//   (arXiv 2410.14234), algorithm 1.
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {

void begin_sums(const PlanRequest& request, Unit units, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  if (request.ranks > 1) program.scratch_units = units;
}

void put_own_block(const PlanRequest& request, Rank rank, Program& program, std::uint32_t round) {
  if (request.ranks == 1 && request.in_place) return;
  const Buffer from = request.ranks == 1 ? Buffer::send : Buffer::scratch;
  const Unit first = static_cast<Unit>(rank) * request.segments;
  ProgramBuilder(program).copy(ProgramBuilder::slice(Buffer::receive, first, request.segments),
                               ProgramBuilder::slice(from, first, request.segments), round);
}

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request) {
  const Circulant graph(request.ranks);
  PlanHeader header = plain_header(collective, "circulant", request, graph.rounds());
  header.tag_span = circulant_tags(graph, false);
  header.one_ported = false;  // a run of blocks that goes past the last one is two messages
  return header;
}

void plan_circulant(const PlanRequest& request, Rank rank, Program& program) {
  begin_sums(request, static_cast<Unit>(request.ranks), program);
  ProgramBuilder build(program);
  const Circulant graph(request.ranks);
  append_circulant_sums(graph, rank, {Buffer::scratch, false}, build);
  put_own_block(request, rank, program, graph.rounds() == 0 ? 0 : graph.rounds() - 1);
}

template PlanHeader describe_circulant<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_circulant<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
