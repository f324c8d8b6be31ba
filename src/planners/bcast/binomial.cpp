// Broadcast over a binomial tree.
//
// Idea: every rank that has the vector sends it to one that has not, so that their number doubles
// in each round. With an order, earliest arrival first, no rank waits for a parent that arrives
// later than itself.
//
// p no power of two: places beyond the last do not exist, and subtrees are cut off there.
// Commutativity: no operator.
// Cost: ceil(log2 p) (alpha + beta m).
// Source: the usual tree; the order is that of SBN in J. Proficz, Process arrival pattern aware
//   algorithms for acceleration of scatter and gather operations, 2020, section 4.
#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"
#include "planners/tree_shapes.hpp"

namespace sibyl::bcast {

PlanHeader describe_binomial(const PlanRequest& request) {
  return plain_header(Collective::bcast, "binomial", request, tree_steps(request.ranks));
}

void plan_binomial(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Seats seats(request);
  const TreeNode node = tree_node(seats.shape(), seats.place_of(rank), request.ranks);
  const bool at_root = rank == request.root;
  const Gate gate = request.background && !at_root ? Gate::on_start : Gate::on_arrival;
  const Slice vector = ProgramBuilder::slice(at_root ? Buffer::send : Buffer::receive, 0);
  if (!at_root) build.receive(seats.rank_at(node.parent), vector, node.step, gate);
  for (const TreeChild& child : node.children()) {
    build.send(seats.rank_at(child.place), vector, child.step, gate);
  }
}

}  // namespace sibyl::bcast
