// Messages that are ready, and the ports and links that they wait for.
//
// A message that is ready starts when all that it takes is free. One that cannot start stands in
// the queues of all that it takes, in the order in which messages became ready; once it has started
// it is dropped from a queue when that is looked through.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/network.hpp"

namespace sibyl::simulator {

class Transfers {
 public:
  void reset(const Network& network);

  // Gives back what a message took.
  void free(std::span<const Resource> resources);
  // Lets messages start now, those first that have waited longest: `start(message)` is called for
  // each. `arrived` are the messages that became ready now, in their order; `resources_of(message)`
  // says what one takes.
  template <class ResourcesOf, class Start>
  void start_all(std::span<const std::uint32_t> arrived, ResourcesOf resources_of, Start start);
  bool anything_freed() const { return !freed_.empty(); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Node {
    std::uint32_t message;
    std::uint32_t turn;  // when it became ready, as a number
    std::uint32_t next;
  };
  struct Candidate {
    std::uint32_t turn;
    std::uint32_t message;
    Resource resource;
  };

  void enqueue(std::uint32_t message, const MessageResources& resources);
  void take(const MessageResources& resources);
  bool can_start(const MessageResources& resources) const;
  template <class ResourcesOf>
  void find_candidate(Resource resource, ResourcesOf resources_of);

  std::vector<std::uint8_t> busy_;
  std::vector<std::uint32_t> head_;
  std::vector<std::uint32_t> tail_;
  std::vector<Node> nodes_;
  std::uint32_t unused_ = none;        // list of nodes
  std::vector<std::uint8_t> started_;  // by turn
  std::vector<Resource> freed_;
  std::vector<Resource> looked_at_;
  std::vector<Candidate> candidates_;
};

template <class ResourcesOf>
void Transfers::find_candidate(Resource resource, ResourcesOf resources_of) {
  std::uint32_t* link = &head_[resource];
  std::uint32_t last = none;
  while (*link != none) {
    const std::uint32_t at = *link;
    Node& node = nodes_[at];
    if (started_[node.turn] != 0) {
      *link = node.next;
      if (tail_[resource] == at) tail_[resource] = last;
      node.next = unused_;
      unused_ = at;
      continue;
    }
    if (can_start(resources_of(node.message))) {
      candidates_.push_back({node.turn, node.message, resource});
      return;
    }
    last = at;
    link = &node.next;
  }
}

template <class ResourcesOf, class Start>
void Transfers::start_all(std::span<const std::uint32_t> arrived, ResourcesOf resources_of,
                          Start start) {
  while (!freed_.empty()) {
    std::swap(freed_, looked_at_);
    freed_.clear();
    candidates_.clear();
    for (const Resource resource : looked_at_) {
      if (busy_[resource] == 0 && head_[resource] != none) find_candidate(resource, resources_of);
    }
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.turn < b.turn; });
    for (const Candidate& candidate : candidates_) {
      const MessageResources resources = resources_of(candidate.message);
      if (started_[candidate.turn] == 0 && can_start(resources)) {
        started_[candidate.turn] = 1;
        take(resources);
        start(candidate.message);
      }
      // What is still free may have another message for it.
      if (busy_[candidate.resource] == 0) freed_.push_back(candidate.resource);
    }
  }
  for (const std::uint32_t message : arrived) {
    const MessageResources resources = resources_of(message);
    if (can_start(resources)) {
      take(resources);
      start(message);
    } else {
      enqueue(message, resources);
    }
  }
}

}  // namespace sibyl::simulator
