// Messages that share ports and links, in the event loop; see engine.hpp and flows.hpp.
#include <algorithm>

#include "simulator/engine.hpp"

namespace sibyl::simulator {
namespace {

constexpr std::uint8_t most_doublings = 6;  // as TCP, whose waiting time does not grow for ever

}  // namespace

void Engine::start_sharing(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const MessageBody body = network_.body(step.rank, programs_->step(step.partner).rank, step.bytes);
  note_start(send, 0);
  if (!network_.handshake()) {
    queue_.push({now_ + body.latency, send, EventKind::body_begins});
  } else if (network_.eager(step.bytes)) {
    ++connection(step.rank, programs_->step(step.partner).rank).sending;
    queue_.push({now_ + body.latency, send, EventKind::body_begins});
  } else {
    // Its announcement may be under way while its receive is not posted yet.
    const double announced = std::max(now_, posted_at_[send] + body.latency);
    queue_.push({announced, send, EventKind::announced});
  }
}

void Engine::answer_announced() {
  sort_messages(announced_);
  for (const std::uint32_t send : announced_) answer(send);
  announced_.clear();
}

// Who sends to a rank answers it behind that, on the same connection. Of two that announce to each
// other at once one answers first, and the other behind its own message.
void Engine::answer(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const Rank destination = programs_->step(step.partner).rank;
  Connection& back = connection(destination, step.rank);
  if (back.sending != 0) {
    back.unanswered.push_back(send);
    return;
  }
  ++connection(step.rank, destination).sending;
  const MessageBody body = network_.body(step.rank, destination, step.bytes);
  queue_.push({now_ + 2 * body.latency, send, EventKind::body_begins});
}

// A message is out; behind the last of a connection go the answers.
void Engine::answer_behind(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  Connection& used = connection(step.rank, programs_->step(step.partner).rank);
  if (--used.sending != 0) return;
  std::vector<std::uint32_t> waiting;
  waiting.swap(used.unanswered);
  for (const std::uint32_t other : waiting) answer(other);
}

Engine::Connection& Engine::connection(Rank source, Rank destination) {
  return connections_[static_cast<std::uint64_t>(source) << 32 |
                      static_cast<std::uint32_t>(destination)];
}

void Engine::begin_body(std::uint32_t send) {
  const SimStep& step = programs_->step(send);
  const Rank destination = programs_->step(step.partner).rank;
  const MessageBody body = network_.body(step.rank, destination, step.bytes);
  const bool went = flows_.begin({send, step.rank, destination, step.bytes, body.ports, body.links,
                                  network_.resources_of(step.rank, destination)},
                                 now_);
  if (went) return;
  ++result_.lost;
  const std::uint8_t before = losses_[send];
  losses_[send] = std::min<std::uint8_t>(before + 1, most_doublings);
  const double wait = network_.at_switch().timeout * static_cast<double>(1U << before);
  queue_.push({now_ + wait, send, EventKind::body_begins});
}

void Engine::share_anew() {
  if (flows_.empty()) return flows_.rest();
  const double first = flows_.share(now_);
  queue_.push({first, flows_.epoch(), EventKind::flows_turn});
}

void Engine::end_bodies(std::uint32_t epoch) {
  if (epoch != flows_.epoch()) return;
  for (const std::uint32_t send : flows_.end(now_)) {
    if (options_->record) result_.events[record_of_[send]].end = now_;
    if (network_.handshake()) answer_behind(send);
    sent(send);
    received(programs_->step(send).partner);
  }
}

}  // namespace sibyl::simulator
