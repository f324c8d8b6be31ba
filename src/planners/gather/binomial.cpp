// Gather over a binomial tree: BNOM, with an order SBN, with open gates BSBN.
//
// Idea: every rank collects the blocks of its subtree, adds its own and sends them to its parent in
// one message. With an order, latest arrival first, the tree is the one whose last ranks are the
// first to send: the earliest arrivals send first and the latest sit next to the root.
//
// p no power of two: places beyond the last do not exist, and subtrees are cut off there.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p - 1) beta m for blocks of m.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, sections 3 (BNOM) and 4, figures 11 (SBN) and 12 (BSBN), stated with
//   subtrees of congruent places in place of bit reversal.
//
// An inner rank packs its subtree into scratch in message order, so that every message is one run
// of scratch; only the root receives into scattered ranges, which sorts the blocks. With open gates
// the receives of inner ranks, the root among them, run before they have arrived.
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"
#include "planners/tree_shapes.hpp"

namespace sibyl::gather {

PlanHeader describe_binomial(const PlanRequest& request) {
  return plain_header(Collective::gather, "binomial", request, tree_steps(request.ranks));
}

void plan_binomial(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Seats seats(request);
  const TreeNode node = tree_node(seats.shape(), seats.place_of(rank), request.ranks);
  const Slice own = ProgramBuilder::slice(Buffer::send, static_cast<Unit>(rank));
  const std::uint32_t steps = tree_steps(request.ranks);
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;

  // A gather takes the steps of the tree backwards.
  const auto round_of = [steps](std::uint32_t step) { return steps - 1 - step; };
  const auto receive_from_children = [&](auto slice_of) {
    for (std::uint32_t i = node.child_count; i-- > 0;) {
      const TreeChild& child = node.child_list[i];
      build.receive(seats.rank_at(child.place), slice_of(child), round_of(child.step), gate);
    }
  };

  if (rank == request.root) {
    program.in_place = request.in_place;
    const std::vector<Range> blocks = seats.blocks_in_message_order();
    receive_from_children([&](const TreeChild& child) {
      return build.slice(Buffer::receive,
                         std::span(blocks).subspan(static_cast<std::size_t>(child.offset),
                                                   static_cast<std::size_t>(child.size)));
    });
    if (!request.in_place) {
      build.copy(ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(rank)), own,
                 steps == 0 ? 0 : steps - 1);
    }
    return;
  }

  const Rank parent = seats.rank_at(node.parent);
  if (node.child_count == 0) {
    build.send(parent, own, round_of(node.step));
    return;
  }
  program.scratch_units = static_cast<Unit>(node.size);
  receive_from_children([](const TreeChild& child) {
    return ProgramBuilder::slice(Buffer::scratch, static_cast<Unit>(child.offset),
                                 static_cast<Unit>(child.size));
  });
  build.copy(ProgramBuilder::slice(Buffer::scratch, 0), own, round_of(node.step));
  build.send(parent, ProgramBuilder::slice(Buffer::scratch, 0, program.scratch_units),
             round_of(node.step));
}

}  // namespace sibyl::gather
