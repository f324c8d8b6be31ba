// What a message costs on a model of a network, and which ports and links it takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sibyl/simulator.hpp"

namespace sibyl::simulator {

using Resource = std::uint32_t;

// Seconds after the start of a message.
struct MessageCost {
  double sent = 0;      // its sender may go on
  double received = 0;  // its receiver has it
  double ports = 0;     // its ports are free
  double links = 0;     // the links of its nodes are free
};

struct MessageBody {
  double latency = 0;
  double ports = 0;
  double links = 0;
};

// The ports and links of one message, ports first.
struct MessageResources {
  std::array<Resource, 4> ids{};
  std::uint8_t ports = 0;
  std::uint8_t all = 0;
  std::span<const Resource> port_ids() const { return {ids.data(), ports}; }
  std::span<const Resource> link_ids() const { return {ids.data() + ports, ids.data() + all}; }
  std::span<const Resource> all_ids() const { return {ids.data(), all}; }
  Resource last() const { return ids[all - 1U]; }  // what the switch sends it out of
};

class Network {
 public:
  Network() = default;
  Network(const NetworkModel& model, Rank ranks);
  Resource resources() const { return resources_; }
  MessageResources resources_of(Rank source, Rank destination) const;
  MessageCost cost(Rank source, Rank destination, std::uint64_t bytes) const;
  bool sharing() const { return model_.sharing; }
  bool handshake() const { return model_.handshake; }
  const SwitchModel& at_switch() const { return model_.at_switch; }
  // Where messages share: the latency of one, and what its body takes of ports and links.
  MessageBody body(Rank source, Rank destination, std::uint64_t bytes) const;
  bool eager(std::uint64_t bytes) const { return eager_ && bytes <= model_.eager_bytes; }

 private:
  bool within_node(Rank a, Rank b) const { return node_of(a) == node_of(b); }
  Rank node_of(Rank rank) const {
    if (!model_.nodes.empty()) return model_.nodes[static_cast<std::size_t>(rank)];
    return model_.ranks_per_node == 1 ? rank : rank / model_.ranks_per_node;
  }
  double link_beta(double beta) const { return model_.link_beta > 0 ? model_.link_beta : beta; }
  bool has_links() const { return shares_nodes_ && model_.shared_link; }

  NetworkModel model_;
  Resource ranks_ = 0;
  Resource nodes_ = 0;
  Resource resources_ = 0;
  bool shares_nodes_ = false;  // some node has several ranks
  bool eager_ = false;
};

}  // namespace sibyl::simulator
