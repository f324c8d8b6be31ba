// Allreduce along a circulant graph: reduce-scatter and allgather in the fewest rounds.
//
// Idea: a rank gives the upper half of the parts that it still adds up to a rank far above, then
// half of the rest to one half as far, until only its own part is left, whole; the way back gives
// every rank all parts.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a part begins at any rank.
// In place: at any rank.
// Cost: 2 ceil(log2 p) alpha + 2 (p-1)/p beta m.
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024
//   (arXiv 2410.14234), algorithms 1 and 2.
#include "planners/allreduce/allreduce.hpp"
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"

namespace sibyl::allreduce {

PlanHeader describe_circulant(const PlanRequest& request) {
  const Circulant graph(request.ranks);
  PlanHeader header = plain_header(Collective::allreduce, "circulant", request, 2 * graph.rounds());
  header.segments = static_cast<std::uint32_t>(request.ranks);
  header.tag_span = circulant_tags(graph, true);
  header.one_ported = false;  // a run of parts that goes past the last one is two messages
  return header;
}

void plan_circulant(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Circulant graph(request.ranks);
  append_circulant_sums(graph, rank, {Buffer::receive, request.in_place}, build);
  append_circulant_copies(graph, rank, build);
  if (request.ranks == 1 && !request.in_place) {
    build.copy(ProgramBuilder::slice(Buffer::receive, 0), ProgramBuilder::slice(Buffer::send, 0),
               0);
  }
}

}  // namespace sibyl::allreduce
