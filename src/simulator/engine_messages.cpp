// Messages that begin, in the event loop; see engine.hpp and transfers.hpp.
#include <algorithm>

#include "simulator/engine.hpp"

namespace sibyl::simulator {

// By round, then by number; the keys lie together, since there may be millions.
void Engine::sort_messages(std::vector<std::uint32_t>& messages) {
  if (messages.size() < 2) return;
  keys_.clear();
  for (const std::uint32_t send : messages) {
    keys_.push_back(std::uint64_t{programs_->step(send).round} << 32 | send);
  }
  std::ranges::sort(keys_);
  std::ranges::transform(keys_, messages.begin(),
                         [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
}

void Engine::start_messages() {
  if (arrived_.empty() && !transfers_.anything_freed()) return;
  sort_messages(arrived_);
  if (network_.sharing()) {
    for (const std::uint32_t send : arrived_) start_sharing(send);
    return arrived_.clear();
  }
  transfers_.start_all(
      arrived_,
      [this](std::uint32_t send) {
        const SimStep& step = programs_->step(send);
        return network_.resources_of(step.rank, programs_->step(step.partner).rank);
      },
      [this](std::uint32_t send) { start(send); });
  arrived_.clear();
}

void Engine::note_start(std::uint32_t send, double end) {
  const SimStep& step = programs_->step(send);
  ++result_.messages;
  result_.bytes += step.bytes;
  if (!options_->record) return;
  record_of_[send] = static_cast<std::uint32_t>(result_.events.size());
  result_.events.push_back(
      {step.rank, programs_->step(step.partner).rank, step.round, step.bytes, 0, 0, now_, end});
}

void Engine::start(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const Rank destination = programs_->step(step.partner).rank;
  const MessageCost cost = network_.cost(step.rank, destination, step.bytes);
  note_start(send, now_ + cost.received);
  if (cost.sent == cost.received && cost.sent == cost.ports && cost.sent == cost.links) {
    queue_.push({now_ + cost.sent, send, EventKind::message_over});
    return;
  }
  const auto taken = network_.resources_of(step.rank, destination);
  queue_.push({now_ + cost.sent, send, EventKind::sent});
  queue_.push({now_ + cost.received, send, EventKind::received});
  queue_.push({now_ + cost.ports, send, EventKind::ports_free});
  if (!taken.link_ids().empty()) queue_.push({now_ + cost.links, send, EventKind::links_free});
}

}  // namespace sibyl::simulator
