// Scatter over the ordered tree, for blocks whose sizes all ranks know.
//
// Idea: the tree of the ordered gather downwards. A rank receives the blocks of its cube, which are
// consecutive and in rank order, and sends its children theirs, the largest cube first.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p - 1) beta m for blocks of m, where a given root adds the penalty of
//   lemma 2.2 at most.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, section 2.
//
// Regular blocks need no construction messages: every rank works out the same tree by itself.
#include "planners/ordered_tree.hpp"

#include <ranges>

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"
#include "planners/scatter/scatter.hpp"

namespace sibyl::scatter {

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  return blocks_header(Collective::scatter, "ordered-tree", request,
                       ceil_log2(static_cast<std::uint64_t>(request.ranks)));
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const OrderedNode node = ordered_node_of_equal_blocks(rank, request.ranks, request.root);
  // A scatter takes the iterations of the gather backwards.
  const std::uint32_t rounds = ceil_log2(static_cast<std::uint64_t>(request.ranks));
  const auto round_of = [rounds](std::uint32_t iteration) { return rounds - 1 - iteration; };
  const Slice own = ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(rank));
  const bool is_root = rank == request.root;
  if (is_root) program.in_place = request.in_place;
  if (!is_root && node.children.empty()) {
    build.receive(node.parent, own, round_of(node.round));
    return;
  }
  // At the root a block lies at its rank; elsewhere in scratch, at its rank within the cube.
  const Buffer buffer = is_root ? Buffer::send : Buffer::scratch;
  const auto place = [&](Rank first, Rank count) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(is_root ? first : first - node.first),
                                 static_cast<Unit>(count));
  };
  std::uint32_t last = 0;
  if (!is_root) {
    program.scratch_units = static_cast<Unit>(node.count);
    last = round_of(node.round);
    build.receive(node.parent, place(node.first, node.count), last);
  }
  for (const OrderedChild& child : std::views::reverse(node.children)) {
    last = round_of(child.round);
    build.send(child.rank, place(child.first, child.count), last);
  }
  if (!program.in_place) build.copy(own, place(rank, 1), last);
}

}  // namespace sibyl::scatter
