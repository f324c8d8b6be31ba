// Which ranks share a node, wherever they lie.
#pragma once

#include <span>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

// How the ranks of a communicator lie on nodes, as a request names it.
struct Placement {
  Rank ranks_per_node = 1;       // consecutive ranks; 1 where nodes say more
  std::vector<Rank> nodes = {};  // of each rank; empty: as ranks_per_node says
  Rank count = 0;                // of nodes; 0: as ranks_per_node says
  Rank node_of(Rank rank) const {
    return nodes.empty() ? rank / ranks_per_node : nodes[static_cast<std::size_t>(rank)];
  }
  Rank nodes_of(Rank ranks) const {
    return count != 0 ? count : (ranks + ranks_per_node - 1) / ranks_per_node;
  }
  bool operator==(const Placement&) const = default;
};

// The ranks of the largest node where each holds consecutive ranks, in the order of the nodes'
// numbers; else 0.
Rank largest_run(std::span<const Rank> nodes);

// Has a request of this algorithm say where ranks lie, as far as the algorithm plans for it; the
// placement must live as long as the request.
void place(const Algorithm& algorithm, const Placement& placement, PlanRequest& request);

// Nodes are numbered in the order of their lowest ranks. A node's members stand in rank order, the
// request's root before all others (rank 0 where a collective has none).
class Nodes {
 public:
  explicit Nodes(const PlanRequest& request);

  Rank count() const { return static_cast<Rank>(begin_.size()) - 1; }
  Rank node_of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  std::span<const Rank> members(Rank node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(members_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
  }
  Rank smallest() const;

 private:
  std::vector<Rank> node_of_;
  std::vector<std::size_t> begin_;  // of each node in members_, and its end
  std::vector<Rank> members_;
};

}  // namespace sibyl
