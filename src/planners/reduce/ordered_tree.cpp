// Reduce of whole vectors over the ordered tree, without segments.
//
// Idea: the tree of the ordered gather. Cubes of consecutive ranks join in pairs, first those of a
// node and then nodes, so that one vector leaves a node however many ranks it has. The sum of a
// cube lies with the root where it is in the cube, else with the cube's first rank.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: not needed. What comes from below stands on the left. What comes from above is
//   received into another place and combined there from the left, so the sum changes its place.
// In place: at the root.
// Cost: ceil(log2 p) (alpha + beta m), and one application of the operator a round; with k ranks on
//   each of n nodes ceil(log2 k) rounds within and ceil(log2 n) between them.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, lemma 2.2: its tree for equal blocks, which every rank works out by
//   itself. That it keeps the order of the operands for every root is not in the paper.
//
// Data: a rank adds up in two places in turn, `scratch` both; the root's are `receive` and scratch.
// Which is first is such that the whole sum ends in `receive`; in place, where the vector lies in
// `receive` to begin with, it may have to be copied there.
#include "planners/reduce/ordered_tree.hpp"

#include <algorithm>
#include <array>

#include "planners/headers.hpp"
#include "planners/ordered_programs.hpp"

namespace sibyl::reduce {
namespace {

bool is_above(const OrderedChild& child, Rank rank) { return child.first > rank; }

// How often the root's sum goes from one place to the other after it has its first.
std::ptrdiff_t changes_of_place(const OrderedNode& node, Rank root) {
  if (node.children.empty()) return 0;
  return std::count_if(node.children.begin() + 1, node.children.end(),
                       [&](const OrderedChild& child) { return is_above(child, root); });
}

}  // namespace

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  PlanHeader header =
      plain_header(Collective::reduce, "ordered-tree", request, tree_rounds(request));
  header.keeps_order = true;
  return header;
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const bool at_root = rank == request.root;
  program.in_place = at_root && request.in_place;
  ProgramBuilder build(program);
  const RequestOrder order(request);
  const OrderedNode node = ordered_node_of_equal_blocks(rank, request.root, order.get());

  const Slice receive = ProgramBuilder::slice(Buffer::receive, 0);
  const Slice scratch = ProgramBuilder::slice(Buffer::scratch, 0);

  // The places of the sum, and which it is in; until it has one, it is the caller's vector.
  std::array<Slice, 2> places{scratch, ProgramBuilder::slice(Buffer::scratch, 1)};
  if (at_root) {
    const bool ends_where_it_begins = changes_of_place(node, rank) % 2 == 0;
    places[0] = program.in_place || ends_where_it_begins ? receive : scratch;
    places[1] = places[0].buffer == Buffer::receive ? scratch : receive;
  }
  std::size_t at = 0;
  bool placed = program.in_place;
  const auto sum = [&] { return placed ? places[at] : ProgramBuilder::slice(Buffer::send, 0); };
  const auto use = [&](const Slice& place) {
    if (place.buffer != Buffer::scratch) return;
    program.scratch_units = std::max(program.scratch_units, place.range.first + 1);
  };

  for (const OrderedChild& child : node.children) {
    const bool above = is_above(child, rank);
    const std::size_t next = placed && above ? 1 - at : at;
    use(places[next]);
    if (above) {
      build.receive(child.rank, places[next], child.round);
      build.combine(places[next], sum(), child.round);
    } else {
      if (!placed) build.copy(places[next], sum(), child.round);
      build.receive_combine(child.rank, places[next], child.round);
    }
    at = next;
    placed = true;
  }
  if (!at_root) {
    build.send(node.parent, sum(), node.round);
  } else if (!placed || places[at].buffer != Buffer::receive) {
    build.copy(receive, sum(), tree_rounds(request));
  }
}

}  // namespace sibyl::reduce
