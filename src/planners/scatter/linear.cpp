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
// A round is a leaf's turn. What makes the root send one after the other is its port window, of one
// send unless the request allows more. With open gates a leaf receives before it has arrived; its
// receive buffer belongs to the library from the start of the computation on.
#include "planners/headers.hpp"
#include "planners/scatter/scatter.hpp"
#include "planners/service_order.hpp"

namespace sibyl::scatter {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header = plain_header(Collective::scatter, "linear", request,
                                   static_cast<std::uint32_t>(request.ranks) - 1);
  header.window.sends = request.outstanding;
  return header;
}

void plan_linear(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const auto block = [](Buffer buffer, Rank owner) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(owner));
  };
  if (rank != request.root) {
    build.receive(request.root, block(Buffer::receive, rank), turn_of(request, rank),
                  request.background ? Gate::on_start : Gate::on_arrival);
    return;
  }
  program.in_place = request.in_place;
  std::uint32_t turn = 0;
  for_each_served_rank(request,
                       [&](Rank leaf) { build.send(leaf, block(Buffer::send, leaf), turn++); });
  if (!request.in_place) {
    build.copy(block(Buffer::receive, rank), block(Buffer::send, rank), last_turn(request));
  }
}

}  // namespace sibyl::scatter
