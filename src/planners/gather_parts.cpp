// Which messages a subtree is sent in; see gather_parts.hpp.
#include "planners/gather_parts.hpp"

#include <algorithm>
#include <numeric>

namespace sibyl {

std::size_t children_before_parts(const OrderedNode& node, const PartRule& rule) {
  constexpr std::uint64_t most_messages = 16;
  const std::uint64_t least = std::max<std::uint64_t>(rule.part_from, 1);
  std::size_t awaited = node.children.size();
  std::uint64_t held = node.total;
  if (held / most_messages > least) return awaited;
  while (awaited > 0 && node.children[awaited - 1].round >= rule.within) {
    const std::uint64_t last = node.children[awaited - 1].total;
    if (last < least || held - last < least) break;
    held -= last;
    --awaited;
  }
  return awaited;
}

JoinOrder::Cube cube_of_first(const OrderedNode& node, Rank place, std::size_t children) {
  JoinOrder::Cube cube{place, place + 1};
  for (const OrderedChild& child : std::span(node.children).first(children)) {
    cube.first = std::min(cube.first, child.first);
    cube.end = std::max(cube.end, child.first + child.count);
  }
  return cube;
}

GatherMessages::GatherMessages(Rank ranks, const std::function<const OrderedNode&(Rank)>& node_at,
                               const PartRule& rule)
    : sent_(static_cast<std::size_t>(ranks)) {
  std::vector<Rank> places(sent_.size());
  std::iota(places.begin(), places.end(), Rank{0});
  // Children send in earlier rounds than their parents.
  std::ranges::stable_sort(places, {}, [&](Rank place) { return node_at(place).round; });
  std::vector<std::uint32_t> widths;
  for (const Rank place : places) {
    const OrderedNode& node = node_at(place);
    if (node.parent == no_rank) continue;
    auto& sent = sent_[static_cast<std::size_t>(place)];
    const std::size_t first = children_before_parts(node, rule);
    sent.push_back(cube_of_first(node, place, first));
    for (const OrderedChild& child : std::span(node.children).subspan(first)) {
      const auto passed = of(child.rank, {child.first, child.first + child.count});
      sent.insert(sent.end(), passed.begin(), passed.end());
    }
    if (widths.size() <= node.round) widths.resize(node.round + std::size_t{1}, 1);
    widths[node.round] = std::max(widths[node.round], static_cast<std::uint32_t>(sent.size()));
  }
  rounds_.push_back(0);
  for (const std::uint32_t width : widths) {
    most_ = std::max(most_, width);
    rounds_.push_back(rounds_.back() + width);
  }
}

std::span<const JoinOrder::Cube> GatherMessages::of(Rank place,
                                                    const JoinOrder::Cube& whole) const {
  if (sent_.empty()) return {&whole, 1};
  return sent_[static_cast<std::size_t>(place)];
}

std::uint32_t GatherMessages::round(std::uint32_t iteration) const {
  if (rounds_.empty()) return iteration;
  const auto known = static_cast<std::uint32_t>(rounds_.size() - 1);
  return iteration <= known ? rounds_[iteration] : rounds_.back() + (iteration - known);
}

}  // namespace sibyl
