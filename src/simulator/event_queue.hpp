// Events in the order of their times: a radix heap.
//
// Simulated time never runs backwards, so an event is never earlier than the last one taken. Events
// lie in the bucket of the highest bit in which their time differs from that one; taking the next
// time spreads one bucket over lower ones. That costs far less than a heap once a million events
// are under way. Times are not negative, so their bits, read as integers, are in their order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sibyl::simulator {

enum class EventKind : std::uint8_t {
  start,         // of a rank's computation
  arrival,       // of a rank
  message_over,  // all at once: sent, received, ports and links free
  sent,
  received,
  ports_free,
  links_free,
  announced,    // a message that wants an answer: its receiver knows of it, and has a place for it
  body_begins,  // of a message that shares its ports: its latency is over
  flows_turn,   // the first of those that share ends, if nothing has changed since
  computed,     // a local step, or the combination of a receive
};

struct Event {
  double time = 0;
  std::uint32_t id = 0;  // a rank, the number of a send, of a step that computed, or of shares
  EventKind kind = EventKind::start;
};

class EventQueue {
 public:
  void clear() {
    for (auto& bucket : buckets_) bucket.clear();
    last_ = 0;
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }
  void push(const Event& event) {
    buckets_[bucket_of(key_of(event.time))].push_back(event);
    ++size_;
  }
  // Replaces `batch` by all events of the earliest time, in the order in which they were pushed or
  // spread. The queue must not be empty.
  void take(std::vector<Event>& batch) {
    if (buckets_[0].empty()) spread();
    batch.clear();
    std::swap(batch, buckets_[0]);
    size_ -= batch.size();
  }

 private:
  // -0.0 has the bits of a large number.
  static std::uint64_t key_of(double time) { return std::bit_cast<std::uint64_t>(time + 0.0); }
  std::size_t bucket_of(std::uint64_t key) const {
    return static_cast<std::size_t>(std::bit_width(key ^ last_));
  }
  void spread() {
    std::size_t first = 1;
    while (buckets_[first].empty()) ++first;
    spreading_.clear();
    std::swap(spreading_, buckets_[first]);
    last_ = ~std::uint64_t{0};
    for (const Event& event : spreading_) last_ = std::min(last_, key_of(event.time));
    for (const Event& event : spreading_) {
      buckets_[bucket_of(key_of(event.time))].push_back(event);
    }
  }

  std::array<std::vector<Event>, 65> buckets_;
  std::vector<Event> spreading_;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sibyl::simulator
