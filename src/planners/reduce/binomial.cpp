// Reduce of whole vectors over a binomial tree, without segments.
//
// Idea: in round k aligned blocks of 2^k ranks join in pairs; the sum of a block lies with the root
// where it is in the block, else with the block's first rank, and one of the two sends it to the
// other. That is the ordered tree (ordered_tree.cpp) of ranks that lie anywhere.
//
// p no power of two: a block that would begin at p or beyond is missed by nobody.
// Commutativity: not needed.
// In place: at the root.
// Cost: ceil(log2 p) (alpha + beta m), and one application of the operator a round.
// Source: the binomial tree (BNOM) that J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant, 2020,
//   section 6 compares with. The usual tree counts ranks from the root on; counted in rank order it
//   has the same rounds for every root and keeps the order of the operands.
#include "planners/reduce/binomial.hpp"

#include "planners/reduce/ordered_tree.hpp"

namespace sibyl::reduce {
namespace {

PlanRequest anywhere(const PlanRequest& request) {
  PlanRequest same = request;
  same.ranks_per_node = 1;
  return same;
}

}  // namespace

PlanHeader describe_binomial(const PlanRequest& request) {
  PlanHeader header = describe_ordered_tree(anywhere(request));
  header.algorithm = "binomial";
  return header;
}

void plan_binomial(const PlanRequest& request, Rank rank, Program& program) {
  plan_ordered_tree(anywhere(request), rank, program);
}

}  // namespace sibyl::reduce
