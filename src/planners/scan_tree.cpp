// The shapes of scan_tree.hpp, walked from the root to one rank.
#include "planners/scan_tree.hpp"

#include <algorithm>
#include <bit>

namespace sibyl {
namespace {

// Positions [begin, end) form a subtree; its top is the one with the most trailing ones.
struct Subtree {
  std::uint32_t begin;
  std::uint32_t end;
  bool empty() const { return begin == end; }
  std::uint32_t level() const {
    return static_cast<std::uint32_t>(std::bit_width(begin ^ end)) - 1;
  }
  std::uint32_t top() const { return (end & ~(std::bit_floor(begin ^ end) - 1)) - 1; }
  Subtree left() const { return {begin, top()}; }
  Subtree right() const { return {top() + 1, end}; }
};

// A subtree and what its top exchanges with the rank above.
struct TreePlace {
  Subtree here;
  bool sends_up = false;
  bool prefix_comes = false;
  std::uint32_t down = 0;

  // What goes down follows what came down and, to the right, what the left subtree sums to.
  TreePlace left() const { return {here.left(), true, prefix_comes, down + 1}; }
  // A right subtree's sum is of use only above a rank whose own subtree's sum is.
  TreePlace right() const {
    const Subtree left = here.left();
    return {here.right(), sends_up, true,
            std::max(prefix_comes ? down + 1 : 0, left.empty() ? 0 : left.level() + 1)};
  }
};

std::uint32_t shift_of(ScanTree tree) { return tree == ScanTree::odd ? 1 : 0; }
TreePlace top_of(ScanTree tree, Rank ranks) {
  return {{shift_of(tree), static_cast<std::uint32_t>(ranks) + shift_of(tree)}};
}

// One more than the last round in which a message of the subtree or to it travels.
std::uint32_t rounds_of(const TreePlace& place) {
  if (place.here.empty()) return 0;
  return std::max({place.sends_up ? place.here.level() + 1 : 0,
                   place.prefix_comes ? place.down + 1 : 0, rounds_of(place.left()),
                   rounds_of(place.right())});
}

ScanTreeNode chain_node(Rank rank, Rank ranks) {
  const bool last = rank == ranks - 1;
  ScanTreeNode node;
  node.parent = last ? no_rank : rank + 1;
  node.left = rank == 0 ? no_rank : rank - 1;
  node.sends_up = !last;
  node.up = static_cast<std::uint32_t>(rank);
  node.left_up = rank == 0 ? 0 : node.up - 1;
  return node;
}

}  // namespace

ScanTreeNode scan_tree_node(ScanTree tree, Rank rank, Rank ranks) {
  if (tree == ScanTree::chain) return chain_node(rank, ranks);
  const std::uint32_t wanted = static_cast<std::uint32_t>(rank) + shift_of(tree);
  const auto rank_at = [&](std::uint32_t position) {
    return static_cast<Rank>(position - shift_of(tree));
  };
  Rank parent = no_rank;
  TreePlace place = top_of(tree, ranks);
  while (place.here.top() != wanted) {
    parent = rank_at(place.here.top());
    place = wanted < place.here.top() ? place.left() : place.right();
  }
  const TreePlace left = place.left();
  const TreePlace right = place.right();
  ScanTreeNode node;
  node.parent = parent;
  node.sends_up = place.sends_up;
  node.prefix_comes = place.prefix_comes;
  node.up = place.here.level();
  node.down = place.down;
  if (!left.here.empty()) {
    node.left = rank_at(left.here.top());
    node.left_up = left.here.level();
    node.left_down = left.down;
  }
  if (!right.here.empty()) {
    node.right = rank_at(right.here.top());
    node.right_sends = right.sends_up;
    node.right_up = right.here.level();
    node.right_down = right.down;
  }
  return node;
}

std::uint32_t scan_tree_rounds(ScanTree tree, Rank ranks) {
  if (tree == ScanTree::chain) return static_cast<std::uint32_t>(ranks) - 1;
  return rounds_of(top_of(tree, ranks));
}

}  // namespace sibyl
