// Scatter over a binomial tree: BNOM, with an order SBN, with open gates BSBN.
//
// Idea: a rank receives the blocks of its whole subtree in one message, keeps its own and sends
// each child the blocks of the child's subtree. With an order, earliest arrival first, no rank
// waits for a parent that arrives later than itself.
//
// p no power of two: places beyond the last do not exist, and subtrees are cut off there.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p - 1) beta m for blocks of m.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, sections 3 (BNOM) and 4, figures 7 (SBN) and 8 (BSBN), stated with
//   subtrees of congruent places in place of bit reversal.
//
// Only the root's sends have scattered ranges: they put the blocks into message order, in which an
// inner rank keeps them in scratch, so that what it forwards is one run of scratch. With open gates
// all that a rank other than the root does runs before it has arrived; its receive buffer belongs
// to the library from the start of the computation on.
#include "planners/headers.hpp"
#include "planners/scatter/scatter.hpp"
#include "planners/service_order.hpp"
#include "planners/tree_shapes.hpp"

namespace sibyl::scatter {

PlanHeader describe_binomial(const PlanRequest& request) {
  return plain_header(Collective::scatter, "binomial", request, tree_steps(request.ranks));
}

void plan_binomial(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Seats seats(request);
  const TreeNode node = tree_node(seats.shape(), seats.place_of(rank), request.ranks);
  const Slice own = ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(rank));
  const std::uint32_t last_step = node.child_count == 0 ? node.step : node.children().back().step;

  if (rank == request.root) {
    program.in_place = request.in_place;
    const std::vector<Range> blocks = seats.blocks_in_message_order();
    for (const TreeChild& child : node.children()) {
      const auto subtree = std::span(blocks).subspan(static_cast<std::size_t>(child.offset),
                                                     static_cast<std::size_t>(child.size));
      build.send(seats.rank_at(child.place), build.slice(Buffer::send, subtree), child.step);
    }
    if (!request.in_place) {
      build.copy(own, ProgramBuilder::slice(Buffer::send, static_cast<Unit>(rank)), last_step);
    }
    return;
  }

  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  const Rank parent = seats.rank_at(node.parent);
  if (node.child_count == 0) {
    build.receive(parent, own, node.step, gate);
    return;
  }
  program.scratch_units = static_cast<Unit>(node.size);
  build.receive(parent, ProgramBuilder::slice(Buffer::scratch, 0, program.scratch_units), node.step,
                gate);
  for (const TreeChild& child : node.children()) {
    const Slice subtree = ProgramBuilder::slice(Buffer::scratch, static_cast<Unit>(child.offset),
                                                static_cast<Unit>(child.size));
    build.send(seats.rank_at(child.place), subtree, child.step, gate);
  }
  build.copy(own, ProgramBuilder::slice(Buffer::scratch, 0), last_step, gate);
}

}  // namespace sibyl::scatter
