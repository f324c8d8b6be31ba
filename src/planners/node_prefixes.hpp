// Scans on two levels: what the exclusive and the inclusive one have in common.
//
// Every node scans among its ranks; its last rank, which then knows the node's total, takes part in
// an exclusive scan of the totals and broadcasts what it gets in its node, where everybody puts it
// on the left. Nodes hold consecutive ranks, as many as they like.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/ordered_programs.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

// The rounds of the three phases; all rounds are their sum.
struct TwoLevelRounds {
  std::uint32_t within = 0;     // scans in all nodes at a time
  std::uint32_t between = 0;    // the scan of the nodes' totals
  std::uint32_t broadcast = 0;  // of what the nodes below sum up to
  std::uint32_t all() const { return within + between + broadcast; }
};

// Where a rank stands.
class NodePlace {
 public:
  NodePlace(const PlanRequest& request, Rank rank);

  Rank nodes() const { return order_.get().nodes(); }
  Rank node() const { return node_; }
  Rank first() const { return first_; }  // rank of the node
  Rank size() const { return size_; }    // ranks of the node
  Rank index() const { return index_; }
  bool is_last_of_node() const { return index_ == size_ - 1; }
  bool is_on_last_node() const { return node_ == nodes() - 1; }
  bool leads() const { return is_last_of_node() && nodes() > 1; }
  // Whether this rank has somebody to send to in the broadcast.
  bool passes_on() const;
  // The last rank of each node.
  std::vector<Rank> leaders() const;

 private:
  friend void append_prefix_of_node(ProgramBuilder&, const NodePlace&, std::uint32_t, const Slice&,
                                    const Slice&, bool);
  // The node's last rank is 0 in the broadcast's tree, which counts downwards.
  std::uint32_t relative() const { return static_cast<std::uint32_t>(size_ - 1 - index_); }

  RequestOrder order_;
  Rank node_;
  Rank first_;
  Rank size_;
  Rank index_;
};

// Binomial broadcast from the node's last rank of `below`, what the nodes below sum up to; every
// rank puts it on the left of its prefix once it has passed it on. `is_empty`: this rank has no
// prefix yet, and what comes is it.
void append_prefix_of_node(ProgramBuilder& build, const NodePlace& place, std::uint32_t first_round,
                           const Slice& prefix, const Slice& below, bool is_empty);

// Of the scan of totals: of the doubling family the member with at most one application of the
// operator more than 1-doubling, since the vectors are large.
std::uint32_t scan_rounds_of_nodes(Rank nodes);
std::uint32_t operator_rounds_of_nodes(Rank nodes);
// Appends it at a leader: `value` is the node's total, `below` gets the result.
bool append_scan_of_nodes(ProgramBuilder& build, const NodePlace& place, std::uint32_t first_round,
                          const Slice& value, const Slice& below, const Slice& joined);

// Rounds of the broadcast in the node where it takes longest. Node 0 needs none.
std::uint32_t broadcast_rounds(const PlanRequest& request);

// The row of both tables. m is the size of the vector.
template <Collective collective_of_row, PlanHeader (*describe_row)(const PlanRequest&),
          void (*plan_row)(const PlanRequest&, Rank, Program&)>
inline constexpr Algorithm scan_of_nodes{
    .collective = collective_of_row,
    .name = "two-level",
    .published = "hierarchical",
    .idea =
        "Nodes scan within themselves, their last ranks scan the totals and broadcast what they "
        "get: a vector leaves a node once a round, not once per rank.",
    .cost =
        "k ranks in n nodes: (s(k) + e(n) + ceil(log2 k)) (alpha + beta m), of which e(n) between "
        "nodes; e(p) = ceil(log2(p-1) + log2(4/3)), s is e in an exscan, ceil(log2 p) in a scan",
    .source =
        "J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical "
        "All-to-all Communication, 2014 (the decomposition)",
    .nodes = true,
    .uneven_nodes = true,
    .describe = describe_row,
    .plan = plan_row};

}  // namespace sibyl
