// Trees in which ranks stand in order, as pipelined scans use them.
//
// In such a tree all ranks of the left subtree of a rank are below it, all of the right subtree
// above: a subtree is a range of ranks. Sums of subtrees go up, sums of all ranks below a subtree
// come down.
//   - chain: every rank is the left child of the next one. One message in and one out per segment.
//   - even and odd: the balanced binary tree over positions 0, 1, ..., in which a position stands
//     the higher, the more trailing ones it has. Rank r has position r in the one, r + 1 in the
//     other; so whoever has children in the one is a leaf of the other, and both together keep the
//     ports of all ranks evenly busy.
#pragma once

#include <cstdint>

#include "sibyl/schedule.hpp"

namespace sibyl {

enum class ScanTree : std::uint8_t { chain, even, odd };

// One rank's place. Rounds are those of a single segment; a message has the same at both ends.
struct ScanTreeNode {
  Rank parent = no_rank;
  Rank left = no_rank;
  Rank right = no_rank;
  bool sends_up = false;     // some rank above needs the sum of this subtree
  bool right_sends = false;  // the right child's sum is asked for
  bool prefix_comes =
      false;             // there are ranks below the subtree, and the parent says what they sum to
  std::uint32_t up = 0;  // round of the message to the parent
  std::uint32_t left_up = 0;    // of the left child's sum
  std::uint32_t right_up = 0;   // of the right child's
  std::uint32_t down = 0;       // of the prefix from the parent
  std::uint32_t left_down = 0;  // of the prefixes to the children
  std::uint32_t right_down = 0;
};

// Requires 0 <= rank < ranks. Time: constant for the chain, else the depth of the tree.
ScanTreeNode scan_tree_node(ScanTree tree, Rank rank, Rank ranks);

// Rounds that one segment takes. Time: constant for the chain, else proportional to the ranks.
std::uint32_t scan_tree_rounds(ScanTree tree, Rank ranks);

}  // namespace sibyl
