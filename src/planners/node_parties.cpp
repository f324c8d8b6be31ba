// Nodes as parties; see node_parties.hpp.
#include "planners/node_parties.hpp"

#include <algorithm>

namespace sibyl {

std::vector<Party> parties_of(const PlanRequest& request, bool all_must_be_there) {
  const Rank per_node = std::clamp<Rank>(request.ranks_per_node, 1, request.ranks);
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

std::uint32_t most_led(const std::vector<Party>& parties) {
  Rank most = 1;
  for (const Party& party : parties) most = std::max(most, party.size);
  return static_cast<std::uint32_t>(most - 1);
}

PartyPlace place_in(const std::vector<Party>& parties, Rank rank) {
  const auto found =
      std::ranges::find_if(parties, [rank](const Party& party) { return party.holds(rank); });
  return {*found, static_cast<std::uint32_t>(found - parties.begin()),
          static_cast<std::uint32_t>(rank - found->first)};
}

}  // namespace sibyl
