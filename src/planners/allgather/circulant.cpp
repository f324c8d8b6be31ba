// Allgather by doubling.
//
// Idea: a rank has a run of blocks that begins with its own and doubles in each round: it takes the
// run that begins where its own ends, and gives its own to the rank whose run ends where it begins.
// The distances are those of a circulant graph, so that the last round is as long as it must be.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p-1) beta m, for blocks of m.
// Source: J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport
//   Message-Passing Systems, 1997; without its rotation J. L. Traeff, Optimal, Non-pipelined
//   Reduce-scatter and Allreduce Algorithms, 2024 (arXiv 2410.14234), algorithm 2.
//
// Blocks of a run that goes past the last rank are two ranges of the buffer and one message.
#include "planners/circulant.hpp"

#include <algorithm>
#include <array>

#include "planners/allgather/allgather.hpp"
#include "planners/headers.hpp"

namespace sibyl::allgather {

void place_own_block(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  if (request.in_place) return;
  const auto first = static_cast<Unit>(rank) * request.segments;
  ProgramBuilder(program).copy(ProgramBuilder::slice(Buffer::receive, first, request.segments),
                               ProgramBuilder::slice(Buffer::send, first, request.segments), 0);
}

template <Collective collective>
PlanHeader describe_circulant(const PlanRequest& request) {
  const std::uint32_t rounds = Circulant(request.ranks).rounds();
  return plain_header(collective, "circulant", request, rounds);
}

void plan_circulant(const PlanRequest& request, Rank rank, Program& program) {
  place_own_block(request, rank, program);
  ProgramBuilder build(program);
  const Circulant graph(request.ranks);
  const auto run = [&](Rank first, Rank count) {
    const Rank before_end = std::min(count, request.ranks - first);
    const std::array<Range, 2> ranges{
        Range{static_cast<Unit>(first), static_cast<Unit>(before_end)},
        Range{0, static_cast<Unit>(count - before_end)}};
    return build.slice(Buffer::receive, ranges);
  };
  for (std::uint32_t k = 0; k < graph.rounds(); ++k) {
    const Rank have = graph.distance(k);
    const Rank more = graph.distance(k + 1) - have;
    build.send(graph.down(rank, have), run(rank, more), k);
    const Rank above = graph.up(rank, have);
    build.receive(above, run(above, more), k);
  }
}

template PlanHeader describe_circulant<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_circulant<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
