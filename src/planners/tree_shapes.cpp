// The two binomial trees, by arithmetic on the bits of the place.
#include "planners/tree_shapes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "planners/ceil_log2.hpp"

namespace sibyl {
namespace {

// Unsigned 64-bit places: place + 2^t stays in range for every Rank.
using Place = std::uint64_t;

void add_child(TreeNode& node, Place place, std::uint32_t step, Place offset, Place size) {
  node.child_list[node.child_count++] =
      TreeChild{static_cast<Rank>(place), step, static_cast<Rank>(offset), static_cast<Rank>(size)};
}

TreeNode contiguous_node(Place place, Place places) {
  const std::uint32_t steps = ceil_log2(places);
  // Bits below `height` are free in the subtree: 2^height is the lowest set bit of the place.
  const std::uint32_t height =
      place == 0 ? steps : static_cast<std::uint32_t>(std::countr_zero(place));
  TreeNode node;
  node.size = static_cast<Rank>(std::min(Place{1} << height, places - place));
  if (place != 0) {
    node.parent = static_cast<Rank>(place & (place - 1));
    node.step = steps - 1 - height;
  }
  for (std::uint32_t bit = height; bit-- > 0;) {
    const Place child = place + (Place{1} << bit);
    if (child >= places) continue;
    add_child(node, child, steps - 1 - bit, Place{1} << bit,
              std::min(Place{1} << bit, places - child));
  }
  return node;
}

// Places that are congruent to `place` modulo `stride`, `place` the smallest.
Place congruent_places(Place place, Place stride, Place places) {
  return (places - place + stride - 1) / stride;
}

TreeNode arrival_node(Place place, Place places) {
  const auto width = static_cast<std::uint32_t>(std::bit_width(place));
  TreeNode node;
  node.size = static_cast<Rank>(congruent_places(place, Place{1} << width, places));
  if (place != 0) {
    node.step = width - 1;
    node.parent = static_cast<Rank>(place - (Place{1} << node.step));
  }
  Place offset = 1;
  for (std::uint32_t step = width; place + (Place{1} << step) < places; ++step) {
    const Place child = place + (Place{1} << step);
    const Place size = congruent_places(child, Place{2} << step, places);
    add_child(node, child, step, offset, size);
    offset += size;
  }
  return node;
}

// Writes the subtree of `place` to the front of `order`. The depth is at most tree_steps.
void fill_message_order(TreeShape shape, Rank place, Rank places, std::span<Rank> order) {
  const TreeNode node = tree_node(shape, place, places);
  order[0] = place;
  for (const TreeChild& child : node.children()) {
    fill_message_order(shape, child.place, places,
                       order.subspan(static_cast<std::size_t>(child.offset),
                                     static_cast<std::size_t>(child.size)));
  }
}

}  // namespace

std::uint32_t tree_steps(Rank places) { return ceil_log2(static_cast<Place>(places)); }

TreeNode tree_node(TreeShape shape, Rank place, Rank places) {
  const auto at = static_cast<Place>(place);
  const auto all = static_cast<Place>(places);
  return shape == TreeShape::contiguous ? contiguous_node(at, all) : arrival_node(at, all);
}

std::vector<Rank> message_order(TreeShape shape, Rank place, Rank places) {
  std::vector<Rank> order(static_cast<std::size_t>(tree_node(shape, place, places).size));
  fill_message_order(shape, place, places, order);
  return order;
}

}  // namespace sibyl
