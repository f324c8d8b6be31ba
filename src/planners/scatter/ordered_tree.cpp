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
#include "planners/headers.hpp"
#include "planners/ordered_programs.hpp"
#include "planners/scatter/scatter.hpp"

namespace sibyl::scatter {

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  return plain_header(Collective::scatter, "ordered-tree", request, tree_rounds(request));
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const TreeBlocks blocks(request);
  append_scatter(request, blocks, ordered_node(request, blocks, rank), rank, 0,
                 tree_rounds(request), program);
}

}  // namespace sibyl::scatter
