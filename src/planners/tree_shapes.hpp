// The two binomial trees of gather and scatter, as seen from one place in the tree.
//
// A *place* is a position in the tree, 0 at the root; which rank sits at which place is no matter
// of the shape (see service_order.hpp).
//   - contiguous: the parent of place j is j without its lowest set bit; the subtree of j is the
//     range [j, j + lowest set bit). The usual tree: blocks of a subtree lie side by side.
//   - arrival: the parent of place j is j without its highest set bit; the subtree of j, with
//     2^t <= j < 2^(t+1), is the places congruent to j modulo 2^(t+1). A parent's place is always
//     smaller than its child's: seated by arrival, earliest first, no rank of a scatter waits for a
//     parent that arrives later than itself; seated latest first, the same holds for a gather.
// Any number of places works: places beyond the last do not exist and are left out.
//
// A message between child and parent holds the blocks of the child's whole subtree in *message
// order*, in which every subtree is one contiguous run that starts with its own top.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

enum class TreeShape : std::uint8_t { contiguous, arrival };

struct TreeChild {
  Rank place = 0;
  std::uint32_t step = 0;  // when a scatter sends to this child: 0 is first, at the root
  Rank offset = 0;         // where its subtree starts in the parent's message
  Rank size = 0;           // places in its subtree
};

struct TreeNode {
  Rank parent = no_rank;   // no_rank at the root
  std::uint32_t step = 0;  // of the edge to the parent; 0 at the root, which has none
  Rank size = 0;           // places in this subtree, this one included
  std::uint32_t child_count = 0;
  std::array<TreeChild, 31> child_list{};  // in the order of their steps

  std::span<const TreeChild> children() const& { return {child_list.data(), child_count}; }
  std::span<const TreeChild> children() const&& = delete;  // would outlive the list
};

// The steps of a scatter over the tree. A gather takes them backwards.
std::uint32_t tree_steps(Rank places);

// Requires 0 <= place < places. Time: the number of children.
TreeNode tree_node(TreeShape shape, Rank place, Rank places);

// The places of the subtree of `place` in message order. Time: their number.
std::vector<Rank> message_order(TreeShape shape, Rank place, Rank places);

}  // namespace sibyl
