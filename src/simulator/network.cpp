// Costs of messages; the models are described at their structs in sibyl/simulator.hpp.
#include "simulator/network.hpp"

#include <algorithm>
#include <vector>

namespace sibyl::simulator {
namespace {

Resource count_nodes(const NetworkModel& model, Rank ranks) {
  if (model.nodes.empty()) {
    return static_cast<Resource>((ranks + model.ranks_per_node - 1) / model.ranks_per_node);
  }
  return static_cast<Resource>(*std::ranges::max_element(model.nodes)) + 1;
}

bool has_node_of_several(const NetworkModel& model) {
  if (model.nodes.empty()) return model.ranks_per_node > 1;
  std::vector<bool> taken(model.nodes.size(), false);
  for (const Rank node : model.nodes) {
    if (taken[static_cast<std::size_t>(node)]) return true;
    taken[static_cast<std::size_t>(node)] = true;
  }
  return false;
}

}  // namespace

Network::Network(const NetworkModel& model, Rank ranks)
    : model_(model),
      ranks_(static_cast<Resource>(ranks)),
      nodes_(count_nodes(model, ranks)),
      shares_nodes_(has_node_of_several(model)),
      eager_(model.eager_bytes != NetworkModel::never_eager) {
  resources_ = 2 * ranks_ + (has_links() ? 2 * nodes_ : 0);
}

MessageResources Network::resources_of(Rank source, Rank destination) const {
  MessageResources taken;
  taken.ids[0] = static_cast<Resource>(source);
  taken.ids[1] = static_cast<Resource>(destination) + (model_.full_duplex ? ranks_ : 0);
  taken.ports = taken.all = 2;
  if (has_links() && !within_node(source, destination)) {
    taken.ids[2] = 2 * ranks_ + static_cast<Resource>(node_of(source));
    taken.ids[3] = 2 * ranks_ + nodes_ + static_cast<Resource>(node_of(destination));
    taken.all = 4;
  }
  return taken;
}

MessageCost Network::cost(Rank source, Rank destination, std::uint64_t bytes) const {
  const auto size = static_cast<double>(bytes);
  const bool inside = shares_nodes_ && within_node(source, destination);
  if (inside || model_.kind == NetworkKind::hockney) {
    const HockneyModel& hockney = inside ? model_.inside : model_.hockney;
    const double all = hockney.alpha + hockney.beta * size;
    return {all, all, all, has_links() && !inside ? link_beta(hockney.beta) * size : all};
  }
  const LogGPModel& loggp = model_.loggp;
  const double body =
      loggp.gap_per_byte * static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1);
  const double ports = std::max(loggp.overhead, loggp.gap) + body;
  return {loggp.overhead + body, loggp.overhead + body + loggp.latency + loggp.overhead, ports,
          has_links() ? link_beta(loggp.gap_per_byte) * size : ports};
}

MessageBody Network::body(Rank source, Rank destination, std::uint64_t bytes) const {
  const bool inside = shares_nodes_ && within_node(source, destination);
  const HockneyModel& hockney = inside ? model_.inside : model_.hockney;
  const auto size = static_cast<double>(bytes);
  return {hockney.alpha, hockney.beta * size, link_beta(hockney.beta) * size};
}

}  // namespace sibyl::simulator
