// The model of all-to-alls on nodes of several ranks.
//
// On two levels as many bytes leave a node as by messages between all ranks. What is saved is
// start-ups, and what it takes is that blocks go through the memory of two nodes once more; so it
// pays up to blocks of some length. The libraries send short blocks in rounds, each with half of
// all that a rank has, of which as many leave a node as there are binary digits in the number of
// nodes, and about one more in parts. Longer ones they send straight to all ranks, whose start-ups
// pass while the node's link is busy.
#include "selection/alltoall_on_nodes.hpp"

#include <algorithm>
#include <cmath>

#include "planners/ceil_log2.hpp"
#include "selection/model.hpp"

namespace sibyl {
namespace {

// Of a latency between nodes: 0.62 us of 2.07 (platforms/README.md). What a message within a node
// keeps its ends busy is not measured, and counts as if it left.
constexpr double latency_within_nodes = 0.3;
// Blocks that MPICH sends in rounds; where Open MPI's end depends on its release.
constexpr std::uint64_t longest_in_rounds = 256;
// The model knows only averages: it has to be clearly faster. 8 nodes of 16 ranks, simulated
// (infiniband-35x16): 0.85 of MPICH's time with blocks of 32 bytes, 0.60 with 128, 1.09 with 512.
constexpr double clearly_faster_on_nodes = 0.9;

// Nodes as large as they are on average.
struct OnNodes {
  explicit OnNodes(const Situation& now)
      : ranks(now.ranks),
        nodes(now.node_count()),
        per_node(ranks / nodes),
        away(ranks - per_node),
        bytes(static_cast<double>(now.bytes)) {}
  double ranks;
  double nodes;
  double per_node;
  double away;   // ranks on other nodes than a rank's own
  double bytes;  // of a block
};

double deep(double of) { return ceil_log2(static_cast<std::uint64_t>(std::ceil(of))); }

}  // namespace

const Algorithm* choose_alltoall_on_nodes(const Situation& now) {
  const Costs& costs = now.costs;
  const double copy = costs.fold_together - costs.gamma;
  if (!costs.known() || copy <= 0 || !is_countable_on_nodes(now)) return nullptr;
  const OnNodes in(now);
  const double start = std::max(costs.overhead_together, costs.overhead);
  const double beta = costs.beta_together != 0 ? costs.beta_together : costs.beta * in.per_node;
  const double inside = latency_within_nodes * costs.alpha;

  const double link = beta * in.away * in.bytes;
  const double straight = costs.alpha + std::max((in.ranks - 1) * start, link);
  const double leaving = deep(in.nodes);
  const double in_rounds = leaving * costs.alpha + deep(in.per_node) * inside +
                           beta * (leaving + 1) * in.ranks / 2 * in.bytes;
  const double within = 2 * (in.per_node - 1);
  const double messages = within + std::ceil((in.nodes - 1) / in.per_node);
  const double on_two_levels =
      costs.alpha + 2 * inside + messages * start + link + copy * within * in.nodes * in.bytes;
  const double flat = now.bytes <= longest_in_rounds ? in_rounds : straight;
  const bool pays = on_two_levels < clearly_faster_on_nodes * flat;
  return pays ? find_algorithm(now.collective, "two-level") : nullptr;
}

// A start-up counts as so many bytes.
double saved_on_nodes(const Situation& now) {
  constexpr double of_a_start_up = 1024;
  const OnNodes in(now);
  return in.per_node * in.away * (in.bytes + of_a_start_up);
}

// Of two nodes that hold all ranks but one for each of the others, at most.
bool is_countable_on_nodes(const Situation& now) {
  if (now.collective != Collective::alltoall || now.node_count() == 1) return true;
  const std::uint64_t others = static_cast<std::uint64_t>(now.node_count()) - 2;
  const std::uint64_t of_two = static_cast<std::uint64_t>(now.ranks) - others;
  return now.bytes * (of_two / 2) * (of_two - of_two / 2) <= message_limit;
}

}  // namespace sibyl
