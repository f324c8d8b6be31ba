// Scatter, linear: LIN, with an order SLIN, with open gates BSLIN.
//
// Idea: the root sends every rank its block, one after the other in the order of the request:
// sorted by arrival, nobody waits behind a rank that is not there yet. Only the root knows the
// order, so no agreement on it is needed.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p - 1) (alpha + beta m) for blocks of m.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, sections 3 (LIN) and 4, figures 5 (SLIN, there SLN) and 6 (BSLIN,
//   there BSLN).
//
// All messages are of round 0: a leaf cannot tell when its turn is. What makes the root send one
// after the other is its port window of one send. With open gates a leaf receives before it has
// arrived; its receive buffer belongs to the library from the start of the computation on.
#include "planners/scatter/scatter.hpp"
#include "planners/service_order.hpp"

namespace sibyl::scatter {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header;
  header.collective = Collective::scatter;
  header.algorithm = "linear";
  header.ranks = request.ranks;
  header.root = request.root;
  header.partition = Partition::blocks;
  header.window.sends = 1;
  header.rounds = request.ranks > 1 ? 1 : 0;
  return header;
}

void plan_linear(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const auto block = [](Buffer buffer, Rank owner) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(owner));
  };
  if (rank != request.root) {
    build.receive(request.root, block(Buffer::receive, rank), 0,
                  request.background ? Gate::on_start : Gate::on_arrival);
    return;
  }
  program.in_place = request.in_place;
  for_each_served_rank(request, [&](Rank leaf) { build.send(leaf, block(Buffer::send, leaf), 0); });
  if (!request.in_place) build.copy(block(Buffer::receive, rank), block(Buffer::send, rank), 0);
}

}  // namespace sibyl::scatter
