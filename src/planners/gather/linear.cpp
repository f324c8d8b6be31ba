// Gather, linear: LIN, and with an order sorted by arrival the same in that order.
//
// Idea: every rank sends its block to the root, and the root receives one block after the other in
// the order of the request. Only the root knows the order, so no agreement on it is needed.
// In the background the root receives while it still computes; with room for all leaves at a time
// it takes them as they come, whatever the order.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p - 1) (alpha + beta m) for blocks of m.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, section 3 (LIN).
//
// A round is a leaf's turn. What makes the root take one after the other is its port window, of one
// receive unless the request allows more.
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"

namespace sibyl::gather {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header = plain_header(Collective::gather, "linear", request,
                                   static_cast<std::uint32_t>(request.ranks) - 1);
  header.window.receives = request.outstanding;
  return header;
}

void plan_linear(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const auto block = [](Buffer buffer, Rank owner) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(owner));
  };
  if (rank != request.root) {
    build.send(request.root, block(Buffer::send, rank), turn_of(request, rank));
    return;
  }
  program.in_place = request.in_place;
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  std::uint32_t turn = 0;
  for_each_served_rank(
      request, [&](Rank leaf) { build.receive(leaf, block(Buffer::receive, leaf), turn++, gate); });
  if (!request.in_place) {
    build.copy(block(Buffer::receive, rank), block(Buffer::send, rank), last_turn(request));
  }
}

}  // namespace sibyl::gather
