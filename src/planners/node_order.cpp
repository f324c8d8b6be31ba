// Puts ranks in the order of their nodes; see node_order.hpp.
#include "planners/node_order.hpp"

#include "planners/nodes.hpp"

namespace sibyl {

NodeTable::NodeTable(std::span<const Rank> nodes) {
  const PlanRequest request{.ranks = static_cast<Rank>(nodes.size()), .nodes = nodes};
  const Nodes found(request);
  place_of.resize(nodes.size());
  for (Rank node = 0; node < found.count(); ++node) {
    const std::span<const Rank> members = found.members(node);
    begin.push_back(static_cast<Rank>(rank_at.size()));
    largest = std::max(largest, static_cast<Rank>(members.size()));
    for (const Rank rank : members) {
      place_of[static_cast<std::size_t>(rank)] = static_cast<Rank>(rank_at.size());
      rank_at.push_back(rank);
      node_of.push_back(node);
    }
  }
  begin.push_back(static_cast<Rank>(rank_at.size()));
}

}  // namespace sibyl
