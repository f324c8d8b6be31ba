// Nodes as parties; see node_parties.hpp.
#include "planners/node_parties.hpp"

#include <algorithm>

#include "planners/nodes.hpp"

namespace sibyl {

Slice Party::blocks(Buffer buffer, ProgramBuilder& build) const {
  std::vector<Range> ranges;
  ranges.reserve(ranks.size());
  for (const Rank rank : ranks) ranges.push_back({static_cast<Unit>(rank), 1});
  return build.slice(buffer, ranges);
}

std::vector<Party> parties_of(const PlanRequest& request, bool all_must_be_there) {
  const Nodes nodes(request);
  const Rank own = nodes.node_of(request.root);
  std::vector<Party> parties;
  for (Rank node = 0; node < nodes.count(); ++node) {
    const std::span<const Rank> members = nodes.members(node);
    if (node == own) {
      for (const Rank rank : members.subspan(1)) parties.push_back({{rank}});  // all but the root
    } else {
      parties.push_back({{members.begin(), members.end()}});
    }
  }
  if (request.order.empty()) return parties;
  std::vector<std::size_t> place(static_cast<std::size_t>(request.ranks));
  for (std::size_t i = 0; i < request.order.size(); ++i) {
    place[static_cast<std::size_t>(request.order[i])] = i;
  }
  const auto place_of = [&](Rank rank) { return place[static_cast<std::size_t>(rank)]; };
  std::ranges::sort(parties, {}, [&](const Party& party) {
    const Rank last = std::ranges::max(party.ranks, {}, place_of);
    return place_of(all_must_be_there ? last : party.leader());
  });
  return parties;
}

std::uint32_t most_led(const std::vector<Party>& parties) {
  std::size_t most = 1;
  for (const Party& party : parties) most = std::max(most, party.ranks.size());
  return static_cast<std::uint32_t>(most - 1);
}

PartyPlace place_in(const std::vector<Party>& parties, Rank rank) {
  for (std::uint32_t turn = 0;; ++turn) {
    const std::vector<Rank>& ranks = parties[turn].ranks;
    const auto found = std::ranges::lower_bound(ranks, rank);
    if (found == ranks.end() || *found != rank) continue;
    return {parties[turn], turn, static_cast<std::uint32_t>(found - ranks.begin())};
  }
}

}  // namespace sibyl
