// Barrier by dissemination.
//
// Idea: in round k a rank tells the one 2^k above that it is there, and with it all that it has
// heard of; after ceil(log2 p) rounds everybody has heard of everybody.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha.
// Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988.
//
// What a rank sends waits for what it has been told, which no data would make it do.
#include <span>

#include "planners/barrier/barrier.hpp"
#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::barrier {

PlanHeader describe_dissemination(const PlanRequest& request) {
  return plain_header(Collective::barrier, "dissemination", request,
                      ceil_log2(static_cast<std::uint64_t>(request.ranks)));
}

void plan_dissemination(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const std::int64_t ranks = request.ranks;
  StepIndex told = 0;
  std::uint32_t round = 0;
  for (std::int64_t far = 1; far < ranks; far *= 2, ++round) {
    const std::span<const StepIndex> after(&told, round == 0 ? 0 : 1);
    const auto to = static_cast<Rank>((rank + far) % ranks);
    const auto from = static_cast<Rank>((rank + ranks - far) % ranks);
    build.send(to, ProgramBuilder::nothing(), round, Gate::on_arrival, after);
    told = build.receive(from, ProgramBuilder::nothing(), round, Gate::on_arrival, after);
  }
}

}  // namespace sibyl::barrier
