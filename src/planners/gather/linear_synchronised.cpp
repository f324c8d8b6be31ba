// Gather, linear synchronised: LS, with an order SLS, with open gates BSLS.
//
// Idea: a leaf sends its block in two segments A and B, and only after the root has asked for it
// with an empty go-ahead message. The root asks the next leaf when segment A of this one is there,
// so that the rest of one block overlaps with the start of the next and nobody floods the root.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p - 1) (2 alpha + beta m) + alpha for blocks of m, both directions used at once; the
//   paper's (p - 1) (3 alpha + beta m) holds where they are not.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, section 4, figures 9 (SLS) and 10 (BSLS).
//
// Segment A of block b is unit 2b, segment B is unit 2b + 1; whoever runs the plan sizes them.
// A round is a leaf's turn; the segments B of earlier turns may still be under way. Where any
// number of transfers may be outstanding (0) no turn waits for another: whoever runs the plan opens
// the turns, as the leaves are expected. With open gates the root asks and receives before it has
// arrived; a leaf still sends only what its computation has finished.
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"

namespace sibyl::gather {

PlanHeader describe_linear_synchronised(const PlanRequest& request) {
  PlanHeader header = plain_header(Collective::gather, "linear-synchronised", request,
                                   static_cast<std::uint32_t>(request.ranks) - 1);
  header.segments = 2;
  header.tag_span = request.ranks > 1 ? 2 : 1;
  header.one_ported = false;
  return header;
}

void plan_linear_synchronised(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const auto segment_a = [](Buffer buffer, Rank owner) {
    return ProgramBuilder::slice(buffer, 2 * static_cast<Unit>(owner));
  };
  const auto segment_b = [](Buffer buffer, Rank owner) {
    return ProgramBuilder::slice(buffer, 2 * static_cast<Unit>(owner) + 1);
  };
  if (rank != request.root) {
    const std::uint32_t turn = turn_of(request, rank);
    const StepIndex asked[] = {build.receive(request.root, ProgramBuilder::nothing(), turn)};
    build.send(request.root, segment_a(Buffer::send, rank), turn, Gate::on_arrival, asked);
    build.send(request.root, segment_b(Buffer::send, rank), turn, Gate::on_arrival, asked);
    return;
  }
  program.in_place = request.in_place;
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  std::uint32_t turn = 0;
  StepIndex previous_a = 0;
  std::size_t waits_for = 0;  // 1 once there is a previous leaf
  for_each_served_rank(request, [&](Rank leaf) {
    const std::span<const StepIndex> after(&previous_a, waits_for);
    const StepIndex a = build.receive(leaf, segment_a(Buffer::receive, leaf), turn, gate, after);
    build.send(leaf, ProgramBuilder::nothing(), turn, gate, after);
    build.receive(leaf, segment_b(Buffer::receive, leaf), turn, gate, after);
    ++turn;
    previous_a = a;
    waits_for = request.outstanding == 0 ? 0 : 1;
  });
  if (!request.in_place) {
    const Unit own = 2 * static_cast<Unit>(rank);
    build.copy(ProgramBuilder::slice(Buffer::receive, own, 2),
               ProgramBuilder::slice(Buffer::send, own, 2), last_turn(request));
  }
}

}  // namespace sibyl::gather
