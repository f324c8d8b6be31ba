// Gather over the ordered tree, for blocks whose sizes all ranks know.
//
// Idea: cubes of consecutive ranks join, and of two gather roots the one whose gather takes less
// long sends all that its cube holds. Blocks move as consecutive ranges in rank order, so that no
// rank sorts them and the root receives into place, whichever rank it is.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p - 1) beta m for blocks of m, where a given root adds the penalty of
//   lemma 2.2 at most.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, lemmas 2.1 and 2.2.
//
// Regular blocks need no construction messages: every rank works out the same tree by itself.
#include "planners/ordered_tree.hpp"

#include "planners/ceil_log2.hpp"
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"

namespace sibyl::gather {

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  return blocks_header(Collective::gather, "ordered-tree", request,
                       ceil_log2(static_cast<std::uint64_t>(request.ranks)));
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const OrderedNode node = ordered_node_of_equal_blocks(rank, request.ranks, request.root);
  const Slice own = ProgramBuilder::slice(Buffer::send, static_cast<Unit>(rank));
  const bool is_root = rank == request.root;
  if (is_root) program.in_place = request.in_place;
  if (!is_root && node.children.empty()) {
    build.send(node.parent, own, node.round);
    return;
  }
  // At the root a block lies at its rank; elsewhere in scratch, at its rank within the cube.
  const Buffer buffer = is_root ? Buffer::receive : Buffer::scratch;
  const auto place = [&](Rank first, Rank count) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(is_root ? first : first - node.first),
                                 static_cast<Unit>(count));
  };
  for (const OrderedChild& child : node.children) {
    build.receive(child.rank, place(child.first, child.count), child.round);
  }
  const std::uint32_t last = node.children.empty() ? 0 : node.children.back().round;
  if (!program.in_place) build.copy(place(rank, 1), own, last);
  if (is_root) return;
  program.scratch_units = static_cast<Unit>(node.count);
  build.send(node.parent, place(node.first, node.count), node.round);
}

}  // namespace sibyl::gather
