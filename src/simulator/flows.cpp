// Shares of messages that are under way together, and what a queue lets in; see flows.hpp.
#include "simulator/flows.hpp"

#include <algorithm>
#include <limits>

namespace sibyl::simulator {

void Flows::reset(const Network& network, const SwitchModel& model) {
  switch_ = model;
  active_.clear();
  waiting_.clear();
  free_.assign(network.resources(), 0);
  load_.assign(network.resources(), 0);
  ended_.clear();
  now_ = 0;
  epoch_ = 0;
  changed_ = false;
}

// What lies in the queue, or would but for the wire, of a message under way.
double Flows::held(const Active& active) const {
  const double bytes = static_cast<double>(active.flow.bytes);
  const double left = active.flow.ports > 0 ? bytes * (active.left / active.flow.ports) : 0;
  return std::min(active.window, left);
}

// Whether the queue has room; a window that does not fit becomes as large as what does, and where
// nothing fits those of the others are halved.
bool Flows::admit(Active& active) {
  const auto bytes = static_cast<double>(active.flow.bytes);
  active.window = std::min(static_cast<double>(switch_.window_bytes), bytes);
  if (switch_.queue_bytes == 0 || active.flow.bytes == 0) return true;
  const Resource port = active.flow.taken.last();
  double all = 0;
  double on_the_wire = 0;
  for (const Active& other : active_) {
    if (other.flow.taken.last() != port) continue;
    all += held(other);
    on_the_wire = std::max(on_the_wire, held(other));
  }
  if (all == 0) return true;
  const double room = static_cast<double>(switch_.queue_bytes) - (all - on_the_wire);
  constexpr auto noticed = static_cast<double>(SwitchModel::noticed_bytes);
  active.window = std::min(active.window, room);
  if (room >= std::min(bytes, noticed)) return true;
  for (Active& other : active_) {
    if (other.flow.taken.last() == port) other.window = std::max(noticed, other.window / 2);
  }
  return false;
}

bool Flows::begin(const Flow& flow, double now) {
  advance(now);
  Active active;
  active.flow = flow;
  active.left = flow.ports;
  active.ends = std::numeric_limits<double>::infinity();  // until it has a share
  const auto goes_there = [&](const Active& other) { return same_way(other.flow, flow); };
  if (std::ranges::any_of(active_, goes_there)) {
    waiting_.push_back(active);
    return true;
  }
  if (!admit(active)) return false;
  active_.push_back(active);
  changed_ = true;
  return true;
}

void Flows::advance(double now) {
  for (Active& active : active_) active.left -= active.share * (now - now_);
  now_ = now;
}

// Of the time of the place-th thing that a message takes, what a whole share of its ports costs.
double Flows::load_of(const Active& active, std::size_t place) const {
  if (place < active.flow.taken.ports || active.flow.ports == 0) return 1;
  return active.flow.links / active.flow.ports;
}

// All shares grow alike until something is full.
void Flows::settle() {
  std::ranges::fill(free_, 1.0);
  for (Active& active : active_) active.settled = false;
  for (std::size_t open = active_.size(); open > 0;) {
    std::ranges::fill(load_, 0.0);
    for (const Active& active : active_) {
      if (active.settled) continue;
      const auto ids = active.flow.taken.all_ids();
      for (std::size_t i = 0; i < ids.size(); ++i) load_[ids[i]] += load_of(active, i);
    }
    double least = 1;  // no message takes more than its ports
    for (std::size_t r = 0; r < load_.size(); ++r) {
      if (load_[r] > 0) least = std::min(least, free_[r] / load_[r]);
    }
    const std::size_t before = open;
    for (Active& active : active_) {
      if (active.settled) continue;
      const auto ids = active.flow.taken.all_ids();
      const auto full_there = [&](Resource id) { return free_[id] / load_[id] <= least; };
      const bool full = std::ranges::any_of(ids, full_there);
      if (!full) continue;
      active.settled = true;
      active.share = least;
      --open;
    }
    if (open == before) break;  // cannot be: what gave the least share is full
    // After all of a level are known, since they look at what was free before it.
    std::ranges::fill(load_, 0.0);
    for (const Active& active : active_) {
      if (!active.settled) continue;
      const auto ids = active.flow.taken.all_ids();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        load_[ids[i]] += active.share * load_of(active, i);
      }
    }
    for (std::size_t r = 0; r < free_.size(); ++r) free_[r] = std::max(0.0, 1.0 - load_[r]);
  }
}

double Flows::share(double now) {
  advance(now);
  settle();
  double first = std::numeric_limits<double>::infinity();
  for (Active& active : active_) {
    const bool nothing = active.left <= 0 || active.flow.ports == 0;
    active.ends = nothing ? now : now + active.left / active.share;
    first = std::min(first, active.ends);
  }
  changed_ = false;
  ++epoch_;
  return first;
}

std::span<const std::uint32_t> Flows::end(double now) {
  advance(now);
  ended_.clear();
  std::vector<Active> next;
  for (const Active& active : active_) {
    if (active.ends > now) continue;
    ended_.push_back(active.flow.message);
    const auto follows = std::ranges::find_if(
        waiting_, [&](const Active& other) { return same_way(other.flow, active.flow); });
    if (follows == waiting_.end()) continue;
    next.push_back(*follows);
    waiting_.erase(follows);
  }
  std::erase_if(active_, [now](const Active& active) { return active.ends <= now; });
  for (Active& active : next) {
    // The connection is at work, and has what its last message had of the queue.
    if (!admit(active)) active.window = SwitchModel::noticed_bytes;
    active_.push_back(active);
  }
  changed_ = true;
  return ended_;
}

}  // namespace sibyl::simulator
