// Allgather by every rank sending its block to all others.
//
// Idea: in round t a rank sends its block to the rank t above and receives from the one t below.
// Nothing waits for anything but the rank whose block it is, so that a late rank delays only its
// own block; in the background blocks come in before a rank has arrived.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p-1) (alpha + beta m).
// Source: J. Proficz, All-gather Algorithms Resilient to Imbalanced Process Arrival Patterns, 2021
//   (background disseminated ring, BDR).
#include "planners/allgather/allgather.hpp"
#include "planners/headers.hpp"

namespace sibyl::allgather {

template <Collective collective>
PlanHeader describe_spread(const PlanRequest& request) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  return plain_header(collective, "spread", request, others);
}

void plan_spread(const PlanRequest& request, Rank rank, Program& program) {
  place_own_block(request, rank, program);
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  const auto block = [&](Rank of) {
    return ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(of));
  };
  for (Rank t = 1; t < ranks; ++t) {
    const auto round = static_cast<std::uint32_t>(t) - 1;
    build.send((rank + t) % ranks, block(rank), round);
    const Rank from = (rank - t + ranks) % ranks;
    build.receive(from, block(from), round, request.background ? Gate::on_start : Gate::on_arrival);
  }
}

template PlanHeader describe_spread<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_spread<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
