// Scatter of blocks of any sizes over the ordered tree, without construction.
//
// Idea: the root knows all sizes and works out the tree. Every message says which cube it is for
// and how large its blocks are, so that whoever receives it can serve the cube's ranks in turn.
// Blocks above a threshold come direct from the root.
//
// p no power of two: the last cube of an iteration may be smaller or have no neighbour.
// Commutativity: no operator.
// Cost: ceil(log2 p) alpha + beta (sum of m_i without the root's), where the given root adds the
//   penalty of lemma 2.2 at most, and a size of 4 bytes a rank where sizes differ; alpha more for
//   each direct block.
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
//   and Scatter, EuroMPI 2017, lemmas 2.1 and 2.2. The paper builds the tree as for gather; telling
//   sizes with the data saves its 2 ceil(log2 p) - 1 start-ups.
//
// At run time the root may send each rank its own instead (executor/tree/irregular_scatter.cpp).
#include "planners/headers.hpp"
#include "planners/ordered_programs.hpp"
#include "planners/scatterv/scatterv.hpp"

namespace sibyl::scatterv {

PlanHeader describe_ordered_tree(const PlanRequest& request) {
  const auto direct = static_cast<std::uint32_t>(TreeBlocks(request).direct().size());
  PlanHeader header =
      plain_header(Collective::scatterv, "ordered-tree", request, tree_rounds(request) + direct);
  if (direct != 0) header.tag_span = 2;  // its place in the tree, and its block
  return header;
}

void plan_ordered_tree(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const TreeBlocks blocks(request);
  append_scatter(request, blocks, ordered_node(request, blocks, rank), rank, 0,
                 tree_rounds(request), program);
  append_direct(request, blocks, rank, tree_rounds(request), Collective::scatterv, program);
}

}  // namespace sibyl::scatterv
