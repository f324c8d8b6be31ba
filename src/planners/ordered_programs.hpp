// Programs of gather and scatter over an ordered tree, whose shape comes from ordered_tree.hpp.
//
// Every edge of the tree carries a message, of a cube's blocks in rank order, even where it holds
// none: what an edge carries is known to the sender alone in an irregular call. In a gather a large
// cube is sent in several (gather_parts.hpp). Blocks that travel direct between their rank and the
// root are no part of it.
//
// Trees are over places (node_order.hpp); the steps name ranks, and units of the root's buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planners/gather_parts.hpp"
#include "planners/ordered_tree.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

// The order that a request's ranks have in trees.
class RequestOrder {
 public:
  explicit RequestOrder(const PlanRequest& request);
  NodeOrder get() const { return table_ ? NodeOrder(*table_) : NodeOrder(ranks_, per_node_); }

 private:
  Rank ranks_;
  Rank per_node_;
  std::optional<NodeTable> table_;
};

// Which blocks go along the tree, and how large they are there: those that do not count nothing.
class TreeBlocks {
 public:
  explicit TreeBlocks(const PlanRequest& request);
  NodeOrder order() const { return order_.get(); }
  bool carries(Rank rank) const;
  // One per place; empty where all blocks are alike.
  std::span<const std::uint64_t> sizes() const { return sizes_; }
  // The other blocks' owners in rank order, without the root.
  const std::vector<Rank>& direct() const { return direct_; }

 private:
  RequestOrder order_;
  std::vector<std::uint64_t> sizes_;
  std::vector<Rank> direct_;
};

// This rank's node in the tree of the request.
OrderedNode ordered_node(const PlanRequest& request, const TreeBlocks& blocks, Rank rank);
std::uint32_t tree_rounds(const PlanRequest& request);
// The messages of a gather along that tree.
GatherMessages gather_messages(const PlanRequest& request, const TreeBlocks& blocks);

// Append the messages of the rank at `node`, those of the tree in `rounds` rounds from `round` on,
// and the copy of the root's own block. Rounds follow the iterations: upwards in gather, backwards
// in scatter.
void append_gather(const PlanRequest& request, const TreeBlocks& blocks, const OrderedNode& node,
                   const GatherMessages& messages, Rank rank, std::uint32_t round,
                   Program& program);
void append_scatter(const PlanRequest& request, const TreeBlocks& blocks, const OrderedNode& node,
                    Rank rank, std::uint32_t round, std::uint32_t rounds, Program& program);
// Append the messages of the blocks that go direct, a round each.
void append_direct(const PlanRequest& request, const TreeBlocks& blocks, Rank rank,
                   std::uint32_t round, Collective collective, Program& program);

// The plan of an irregular call along the nodes that its ranks hold, in rank order, which may have
// been made for other sizes than the request's: what runs (executor/tree/irregular.hpp), for the
// verifier.
Plan plan_along(Collective collective, const PlanRequest& request,
                std::span<const OrderedNode> nodes);

}  // namespace sibyl
