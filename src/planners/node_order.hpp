// The ranks in the order of their nodes: those of a node one after the other, in rank order, nodes
// in the order of their lowest ranks. A rank's *place* is its index in that order; where nodes hold
// consecutive ranks the two are the same number.
//
// Trees over places (ordered_tree.hpp) move runs of places, so that what a node holds is one run
// wherever its ranks lie, and every rank knows which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

// What the order looks up where nodes are no equal runs of ranks. Time and space: O(p).
struct NodeTable {
  // `nodes`: the node of each rank, as in PlanRequest; not empty.
  explicit NodeTable(std::span<const Rank> nodes);

  std::vector<Rank> rank_at;   // by place
  std::vector<Rank> place_of;  // by rank
  std::vector<Rank> node_of;   // by place
  std::vector<Rank> begin;     // of each node, and the end of the last
  Rank largest = 1;            // ranks of the largest node
};

// A view: a table must outlive it.
class NodeOrder {
 public:
  // Nodes of so many consecutive ranks, the last perhaps fewer.
  NodeOrder(Rank ranks, Rank ranks_per_node)
      : ranks_(ranks), per_node_(std::min(ranks, ranks_per_node)) {}
  explicit NodeOrder(const NodeTable& table)
      : ranks_(static_cast<Rank>(table.rank_at.size())), per_node_(table.largest), table_(&table) {}

  Rank ranks() const { return ranks_; }
  Rank nodes() const {
    return table_ == nullptr ? (ranks_ + per_node_ - 1) / per_node_
                             : static_cast<Rank>(table_->begin.size()) - 1;
  }
  Rank largest_node() const { return per_node_; }
  bool of_equal_runs() const { return table_ == nullptr; }
  Rank rank_at(Rank place) const { return look_up(&NodeTable::rank_at, place, place); }
  Rank place_of(Rank rank) const { return look_up(&NodeTable::place_of, rank, rank); }
  Rank node_of(Rank place) const { return look_up(&NodeTable::node_of, place, place / per_node_); }
  // The first place of a node; of node nodes(), the end.
  Rank begin(Rank node) const {
    const std::int64_t first = std::int64_t{node} * per_node_;
    return look_up(&NodeTable::begin, node,
                   static_cast<Rank>(std::min<std::int64_t>(first, ranks_)));
  }

 private:
  Rank look_up(std::vector<Rank> NodeTable::* column, Rank at, Rank otherwise) const {
    return table_ == nullptr ? otherwise : (table_->*column)[static_cast<std::size_t>(at)];
  }

  Rank ranks_;
  Rank per_node_;  // of the largest node
  const NodeTable* table_ = nullptr;
};

}  // namespace sibyl
