// Gather, linear: LIN, and with an order sorted by arrival the same in that order.
//
// Idea: every rank sends its block to the root, and the root receives one block after the other in
// the order of the request. Only the root knows the order, so no agreement on it is needed.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p - 1) (alpha + beta m) for blocks of m.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, section 3 (LIN).
//
// All messages are of round 0: a leaf cannot tell when its turn is. What makes the root take one
// after the other is its port window of one receive.
#include "planners/gather/gather.hpp"
#include "planners/service_order.hpp"

namespace sibyl::gather {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header;
  header.collective = Collective::gather;
  header.algorithm = "linear";
  header.ranks = request.ranks;
  header.root = request.root;
  header.partition = Partition::blocks;
  header.window.receives = 1;
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
    build.send(request.root, block(Buffer::send, rank), 0);
    return;
  }
  program.in_place = request.in_place;
  for_each_served_rank(request,
                       [&](Rank leaf) { build.receive(leaf, block(Buffer::receive, leaf), 0); });
  if (!request.in_place) build.copy(block(Buffer::receive, rank), block(Buffer::send, rank), 0);
}

}  // namespace sibyl::gather
