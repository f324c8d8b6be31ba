// Numbers nodes and lists their members; see nodes.hpp.
#include "planners/nodes.hpp"

#include <algorithm>
#include <limits>

namespace sibyl {
namespace {

// The same numbers for the same nodes, from 0 on in the order in which ranks name them.
std::vector<Rank> numbered(const PlanRequest& request) {
  const auto ranks = static_cast<std::size_t>(request.ranks);
  std::vector<Rank> node_of(ranks);
  if (request.nodes.empty()) {
    for (std::size_t r = 0; r < ranks; ++r) {
      node_of[r] = static_cast<Rank>(r) / request.ranks_per_node;
    }
    return node_of;
  }
  std::vector<Rank> number(ranks, no_rank);
  Rank next = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    Rank& its = number[static_cast<std::size_t>(request.nodes[r])];
    if (its == no_rank) its = next++;
    node_of[r] = its;
  }
  return node_of;
}

}  // namespace

Rank largest_run(std::span<const Rank> nodes) {
  Rank largest = 0;
  Rank length = 0;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const Rank before = rank == 0 ? 0 : nodes[rank - 1];
    if (nodes[rank] != before && nodes[rank] != before + 1) return 0;
    length = nodes[rank] == before ? length + 1 : 1;
    largest = std::max(largest, length);
  }
  return nodes.empty() || nodes.front() != 0 ? 0 : largest;
}

void place(const Algorithm& algorithm, const Placement& placement, PlanRequest& request) {
  const bool says_each = !placement.nodes.empty();
  if (says_each &&
      (algorithm.any_placement || (algorithm.uneven_nodes && largest_run(placement.nodes) != 0))) {
    request.nodes = placement.nodes;
  } else if (algorithm.nodes) {
    request.ranks_per_node = placement.ranks_per_node;
  }
}

Nodes::Nodes(const PlanRequest& request) : node_of_(numbered(request)) {
  const Rank last = *std::ranges::max_element(node_of_);
  begin_.assign(static_cast<std::size_t>(last) + 2, 0);
  for (const Rank node : node_of_) ++begin_[static_cast<std::size_t>(node) + 1];
  for (std::size_t node = 1; node < begin_.size(); ++node) begin_[node] += begin_[node - 1];
  members_.resize(node_of_.size());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  const auto add = [&](Rank rank) {
    members_[next[static_cast<std::size_t>(node_of(rank))]++] = rank;
  };
  add(request.root);
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    if (rank != request.root) add(rank);
  }
}

Rank Nodes::smallest() const {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t node = 0; node + 1 < begin_.size(); ++node) {
    least = std::min(least, begin_[node + 1] - begin_[node]);
  }
  return static_cast<Rank>(least);
}

}  // namespace sibyl
