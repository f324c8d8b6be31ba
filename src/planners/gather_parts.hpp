// In what messages the blocks of a large subtree move up an ordered tree (ordered_tree.hpp).
//
// A rank that waits for all of its subtree keeps its parent's link idle meanwhile, for a latency
// and what a message costs its ends. So where what it has before its last children come is worth a
// message, and what each of those holds is, it sends that ahead, and then passes on their messages
// as they come. Each holds blocks of consecutive places.
//
// Only between nodes: within one a latency is short, and what a node holds leaves it as one. And
// only while a subtree is no more than some messages' worth: where it is, its blocks keep the link
// busy for so long that a latency does not count, and a root with many messages would have more to
// do than with few.
//
// Who sends decides, by what the construction of the tree has told it: messages say what they hold,
// and whoever receives them waits until all places have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "planners/ordered_tree.hpp"

namespace sibyl {

// From how many bytes on a message is worth sending ahead, and from which iteration on.
struct PartRule {
  std::uint64_t part_from = ~std::uint64_t{0};
  std::uint32_t within = 0;  // JoinOrder::within()
};

// How many of its children a rank waits for before it sends its first message: all, where it sends
// only one.
std::size_t children_before_parts(const OrderedNode& node, const PartRule& rule);

// The cube of a rank and the first so many of its children.
JoinOrder::Cube cube_of_first(const OrderedNode& node, Rank place, std::size_t children);

// The messages of all ranks of a tree, for plans.
class GatherMessages {
 public:
  // One message a rank.
  GatherMessages() = default;
  // `node_at`: the node at each of the places. Time: O(p log p) and the number of messages.
  GatherMessages(Rank ranks, const std::function<const OrderedNode&(Rank)>& node_at,
                 const PartRule& rule);

  // What the rank at `place` sends its parent, in order; `whole` is its cube.
  std::span<const JoinOrder::Cube> of(Rank place, const JoinOrder::Cube& whole) const;
  // The first of the rounds of an iteration's messages; of iteration iterations(), their number.
  std::uint32_t round(std::uint32_t iteration) const;
  // The most messages of one rank.
  std::uint32_t most() const { return most_; }

 private:
  std::vector<std::vector<JoinOrder::Cube>> sent_;  // by place
  std::vector<std::uint32_t> rounds_;               // by iteration, as far as there are messages
  std::uint32_t most_ = 1;
};

}  // namespace sibyl
