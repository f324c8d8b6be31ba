// Nodes as parties; see node_parties.hpp.
#include "planners/node_parties.hpp"

#include <algorithm>

namespace sibyl {
namespace {

Rank ranks_per_node(const PlanRequest& request) {
  return std::clamp<Rank>(request.ranks_per_node, 1, request.ranks);
}

}  // namespace

std::vector<Party> parties_of(const PlanRequest& request, bool all_must_be_there) {
  const Rank per_node = ranks_per_node(request);
  std::vector<Party> parties;
  for (Rank first = 0; first < request.ranks; first += per_node) {
    const Party node{first, first, std::min(per_node, request.ranks - first)};
    if (!node.holds(request.root)) {
      parties.push_back(node);
      continue;
    }
    for (Rank rank = first; rank < first + node.size; ++rank) {
      if (rank != request.root) parties.push_back({rank, rank, 1});
    }
  }
  if (request.order.empty()) return parties;
  std::vector<std::size_t> place(static_cast<std::size_t>(request.ranks));
  for (std::size_t i = 0; i < request.order.size(); ++i) {
    place[static_cast<std::size_t>(request.order[i])] = i;
  }
  std::ranges::sort(parties, {}, [&](const Party& party) {
    const auto begin = place.begin() + party.first;
    return all_must_be_there ? *std::max_element(begin, begin + party.size)
                             : place[static_cast<std::size_t>(party.leader)];
  });
  return parties;
}

PartyCount count_parties(const PlanRequest& request) {
  const Rank per_node = ranks_per_node(request);
  const Rank nodes = (request.ranks + per_node - 1) / per_node;
  const Rank last = request.ranks - (nodes - 1) * per_node;
  const Rank home = request.root / per_node;
  const Rank at_home = home == nodes - 1 ? last : per_node;
  // Another node is a full one unless it is the last of two.
  const Rank widest = nodes == 1 ? 1 : nodes == 2 && home == 0 ? last : per_node;
  return {static_cast<std::uint32_t>(at_home - 1 + nodes - 1),
          static_cast<std::uint32_t>(widest - 1)};
}

PartyPlace place_in(const std::vector<Party>& parties, Rank rank) {
  const auto found =
      std::ranges::find_if(parties, [rank](const Party& party) { return party.holds(rank); });
  return {*found, static_cast<std::uint32_t>(found - parties.begin()),
          static_cast<std::uint32_t>(rank - found->first)};
}

}  // namespace sibyl
