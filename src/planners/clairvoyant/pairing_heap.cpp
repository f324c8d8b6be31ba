// Clairvoyant with one pairing heap of free senders per segment.
//
// Idea: the first sender of a segment is the top of the segment's heap. Who sends leaves all heaps
// at once and comes back at the end of the round; what was received in a round comes back then too.
//
// Cost of generation: O(P N^2 log P) operations on heaps (lemma 1 of the source); 56 bytes per
// process and segment. Here to be compared with; the other three are better.
// Source: Improving Clairvoyant, sections 4.1, 4.5 and 5.7 (removing immediately, which the authors
// found faster than filtering), with boost::heap::pairing_heap as theirs.
#include <boost/heap/pairing_heap.hpp>
#include <vector>

#include "planners/clairvoyant/generators.hpp"

namespace sibyl::clairvoyant {
namespace {

// Boost's heaps have the greatest on top: the greatest is the first in the order of search.
struct Later {
  const Membership* membership;
  Rank first;  // before all others, or no_rank
  bool operator()(Rank a, Rank b) const {
    if (a == first || b == first) return b == first && a != first;
    if (membership->key(a) != membership->key(b)) {
      return membership->key(b) < membership->key(a);
    }
    return b < a;
  }
};
using Heap = boost::heap::pairing_heap<Rank, boost::heap::compare<Later>>;

}  // namespace

void generate_pairing_heap(const ClairvoyantRequest& request, Collector& collector) {
  const std::size_t ranks = request.arrivals.size();
  const std::uint32_t segments = request.segments;
  const auto index = [](Rank rank) { return static_cast<std::size_t>(rank); };
  Membership membership(request);
  const Later later{&membership, request.root_order == RootOrder::first ? request.root : no_rank};
  std::vector<Heap> heaps(segments, Heap(later));
  std::vector<Heap::handle_type> handles(ranks * segments);
  std::vector<bool> holds(ranks * segments, true);   // A or P
  std::vector<bool> has_sent(ranks);                 // in this round: in no heap
  std::vector<std::uint32_t> left(ranks, segments);  // segments not sent, P' among them
  const auto cell = [&](Rank rank, std::uint32_t s) { return index(rank) * segments + s; };
  const auto insert = [&](Rank rank, std::uint32_t s) {
    handles[cell(rank, s)] = heaps[s].push(rank);
  };
  const auto erase = [&](Rank rank, std::uint32_t s) { heaps[s].erase(handles[cell(rank, s)]); };

  while (membership.begin_round()) {
    const Rank sink = membership.sink();
    for (const Rank rank : membership.joined()) {
      for (std::uint32_t s = 0; s < segments; ++s) insert(rank, s);
    }
    ClairvoyantEvent* const events = collector.room(membership.group().size());
    std::size_t count = 0;

    const auto find_sender = [&](Rank receiver, std::uint32_t s) {
      Heap& heap = heaps[s];
      if (heap.empty()) return no_rank;
      if (heap.top() != receiver) return heap.top();
      erase(receiver, s);
      const Rank sender = heap.empty() ? no_rank : heap.top();
      insert(receiver, s);
      return sender;
    };
    const auto consider = [&](Rank receiver) {
      for (std::uint32_t s = 0; s < segments; ++s) {
        if (receiver != sink && !holds[cell(receiver, s)]) continue;
        const Rank sender = find_sender(receiver, s);
        if (sender == no_rank) continue;
        events[count++] = {membership.round(), sender, receiver, s};
        for (std::uint32_t other = 0; other < segments; ++other) {
          if (holds[cell(sender, other)]) erase(sender, other);
        }
        has_sent[index(sender)] = true;
        holds[cell(sender, s)] = false;
        --left[index(sender)];
        if (!holds[cell(receiver, s)]) {
          ++left[index(receiver)];  // the sink gets back what it had sent
        } else if (!has_sent[index(receiver)]) {
          erase(receiver, s);
        }
        holds[cell(receiver, s)] = false;
        return;
      }
    };
    consider(sink);
    for (const Rank receiver : membership.group()) {
      if (receiver != sink) consider(receiver);
    }

    for (std::size_t e = 0; e < count; ++e) {
      holds[cell(events[e].receiver, events[e].segment)] = true;
      if (!has_sent[index(events[e].receiver)]) insert(events[e].receiver, events[e].segment);
    }
    for (std::size_t e = 0; e < count; ++e) {
      const Rank sender = events[e].sender;
      has_sent[index(sender)] = false;
      for (std::uint32_t s = 0; s < segments; ++s) {
        if (holds[cell(sender, s)]) insert(sender, s);
      }
    }
    bool satisfied = false;
    membership.end_round([&](Rank rank) {
      const bool completed = left[index(rank)] == 0 && rank != sink;
      satisfied |= completed && collector.is_satisfied_by(rank);
      return completed;
    });
    collector.take(count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
