// Queues of ports and links; see transfers.hpp.
#include "simulator/transfers.hpp"

#include <algorithm>

namespace sibyl::simulator {

void Transfers::reset(const Network& network) {
  busy_.assign(network.resources(), 0);
  head_.assign(network.resources(), none);
  tail_.assign(network.resources(), none);
  nodes_.clear();
  unused_ = none;
  started_.clear();
  freed_.clear();
}

void Transfers::free(std::span<const Resource> resources) {
  for (const Resource resource : resources) {
    busy_[resource] = 0;
    if (head_[resource] != none) freed_.push_back(resource);
  }
}

bool Transfers::can_start(const MessageResources& resources) const {
  return std::ranges::none_of(resources.all_ids(), [&](Resource r) { return busy_[r] != 0; });
}

void Transfers::take(const MessageResources& resources) {
  for (const Resource resource : resources.all_ids()) busy_[resource] = 1;
}

void Transfers::enqueue(std::uint32_t message, const MessageResources& resources) {
  const auto turn = static_cast<std::uint32_t>(started_.size());
  started_.push_back(0);
  for (const Resource resource : resources.all_ids()) {
    std::uint32_t at = unused_;
    if (at == none) {
      at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({});
    } else {
      unused_ = nodes_[at].next;
    }
    nodes_[at] = {message, turn, none};
    if (head_[resource] == none) {
      head_[resource] = at;
    } else {
      nodes_[tail_[resource]].next = at;
    }
    tail_[resource] = at;
  }
}

}  // namespace sibyl::simulator
