// Broadcast in segments after a Clairvoyant schedule: segments go on to the ranks that are there,
// and ranks that come later are served by all that have them.
//
// Idea: all ranks generate the same schedule from the same arrival pattern; each sends and receives
// what its events say, round by round.
//
// p no power of two: no matter. Commutativity: no operator.
// Cost: from the arrival of root and ranks on about N + 2 log2 p rounds of alpha + beta m/N for a
//   vector of m in N segments; flat patterns are better served by `circulant`.
// Source: the generator's (../clairvoyant/exchange.hpp).
#include "planners/bcast/bcast.hpp"
#include "planners/exchange_programs.hpp"

namespace sibyl::bcast {

std::string check_clairvoyant(const PlanRequest& request) {
  return check_exchange(Collective::bcast, request);
}

PlanHeader describe_clairvoyant(const PlanRequest& request) {
  return describe_exchange(Collective::bcast, request);
}

void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  plan_one_exchange(Collective::bcast, request, rank, program);
}

PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs) {
  return plan_all_exchange(Collective::bcast, request, programs);
}

PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  return plan_one_exchange(Collective::bcast, request, rank, program);
}

}  // namespace sibyl::bcast
