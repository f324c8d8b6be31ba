// Gather over the ordered tree, for blocks whose sizes all ranks know.
//
// Idea: cubes of consecutive ranks join, and of two gather roots the one whose gather takes less
// long sends all that its cube holds. Blocks move as consecutive ranges in rank order, so that no
// rank sorts them and the root receives into place, whichever rank it is.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + (p - 1) beta m for blocks of m, where a given root adds the penalty of
//   lemma 2.2 at most; with k ranks on each of n nodes ceil(log2 k) + ceil(log2 n) rounds.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, lemmas 2.1 and 2.2.
//
// Regular blocks need no construction messages: every rank works out the same tree by itself.
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"
#include "planners/ordered_programs.hpp"

namespace sibyl::gather {

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  return plain_header(Collective::gather, "ordered-tree", request, tree_rounds(request));
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const TreeBlocks blocks(request);
  append_gather(request, blocks, ordered_node(request, blocks, rank), {}, rank, 0, program);
}

}  // namespace sibyl::gather
