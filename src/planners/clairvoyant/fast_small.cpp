// Clairvoyant for at most 64 processes and 64 segments, where a set of either is one word.
//
// Idea: listing 2 as it stands, but a receiver's segments are the bits of one word and the free
// holders of a segment those of another. Holders stand in the order of (f, rank); turned so that
// the head comes first, this is the order of search (see fast.cpp, "Places"). There is next to
// nothing to set up, which is what counts here: failed searches cost more the more processes there
// are, and from some twenty on what fast.cpp sets up pays.
//
// p no power of two: no matter. Commutativity: as linear.cpp.
// Cost of generation: a few operations per event and failed search; 1 KiB.
// Source: the schedule is that of linear.cpp; how it is found here is Sibyl's own.
#include <algorithm>
#include <array>
#include <bit>

#include "planners/clairvoyant/generators.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;
constexpr std::size_t most = 64;

Word bit(unsigned index) { return Word{1} << index; }
Word lowest_ones(std::size_t count) { return count < most ? (Word{1} << count) - 1 : ~Word{0}; }

class Small {
 public:
  Small(const ClairvoyantRequest& request, const Membership& membership)
      : ranks_(request.arrivals.size()),
        segments_(lowest_ones(request.segments)),
        root_(request.root),
        root_first_(request.root_order == RootOrder::first) {
    for (std::size_t i = 0; i < ranks_; ++i) rank_at_[i] = static_cast<Rank>(i);
    std::sort(rank_at_.begin(), rank_at_.begin() + static_cast<std::ptrdiff_t>(ranks_),
              [&](Rank a, Rank b) {
                const double fa = membership.key(a).rest;
                const double fb = membership.key(b).rest;
                return fa != fb ? fa < fb : a < b;
              });
    for (unsigned p = 0; p < ranks_; ++p) place_of_[index(rank_at_[p])] = p;
    std::fill_n(held_.begin(), ranks_, segments_);
    std::fill_n(holders_.begin(), request.segments, lowest_ones(ranks_));
  }

  // Writes the events of a round; returns their number.
  std::size_t round(const Membership& membership, ClairvoyantEvent* events) {
    for (const Rank rank : membership.joined()) present_ |= bit(place(rank));
    const std::span<const Rank> group = membership.group();
    head_ = static_cast<int>(place(group.front()));
    free_ = present_;
    late_ = 0;
    const RoundTime& head = membership.key(group.front());
    const RoundTime last{head.whole + 1, head.rest};
    for (std::size_t i = group.size(); membership.key(group[i - 1]) == last; --i) {
      late_ |= bit(place(group[i - 1]));
    }
    first_ = root_first_ && membership.root_is_here() ? bit(place(root_)) : 0;
    round_ = membership.round();
    event_ = events;
    has_completed_ = false;

    // The sink also receives what it has sent.
    const Rank sink = membership.sink();
    const unsigned sink_place = place(sink);
    serve(sink, segments_);
    if (event_ != events) held_[sink_place] |= bit(events->segment);
    for (const Rank rank : group) {
      if (rank != sink) serve(rank, held_[place(rank)]);
    }
    // What was received can be sent again.
    for (const ClairvoyantEvent* e = events; e < event_; ++e) {
      holders_[e->segment] |= bit(place(e->receiver));
    }
    return static_cast<std::size_t>(event_ - events);
  }

  bool has_completed() const { return has_completed_; }
  // Whether a member has sent everything; it is no member any more then.
  bool leaves(Rank rank, Rank sink) {
    if (rank == sink || held_[place(rank)] != 0) return false;
    present_ &= ~bit(place(rank));
    return true;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  unsigned place(Rank rank) const { return place_of_[index(rank)]; }

  // The smallest of the segments that somebody else who is free holds, from the first who does.
  void serve(Rank receiver, Word segments) {
    const Word own = bit(place(receiver));
    for (; segments != 0; segments &= segments - 1) {
      const auto segment = static_cast<unsigned>(std::countr_zero(segments));
      const Word found = holders_[segment] & free_ & ~own;
      if (found == 0) continue;
      const unsigned sender = first_of(found);
      free_ &= ~bit(sender);
      holders_[segment] &= ~(bit(sender) | own);
      held_[sender] &= ~bit(segment);
      has_completed_ |= held_[sender] == 0;
      *event_++ = {round_, rank_at_[sender], receiver, segment};
      return;
    }
  }
  // In the order of search: the root where that is asked for, then from the head on, then those
  // exactly one round behind it.
  unsigned first_of(Word found) const {
    if ((found & first_) != 0) return static_cast<unsigned>(std::countr_zero(first_));
    if ((found & ~late_) == 0) return static_cast<unsigned>(std::countr_zero(found));
    const int steps = std::countr_zero(std::rotr(found & ~late_, head_));
    return static_cast<unsigned>(steps + head_) % most;
  }

  std::size_t ranks_;
  Word segments_;  // all
  Rank root_;
  bool root_first_;
  std::array<Rank, most> rank_at_;       // of a place
  std::array<unsigned, most> place_of_;  // of a rank
  std::array<Word, most> held_;          // per place: segments, A or P
  std::array<Word, most> holders_;       // per segment: places, A or P
  Word present_ = 0;                     // places of members
  // Of the round:
  int head_ = 0;
  Word free_ = 0;   // who has not sent
  Word late_ = 0;   // who stands last though at the head's place
  Word first_ = 0;  // who is sought before all others
  std::uint32_t round_ = 0;
  ClairvoyantEvent* event_ = nullptr;
  bool has_completed_ = false;
};

}  // namespace

void generate_small(const ClairvoyantRequest& request, Collector& collector) {
  Membership membership(request);
  Small small(request, membership);
  while (membership.begin_round()) {
    const Rank sink = membership.sink();
    ClairvoyantEvent* const events = collector.room(membership.group().size());
    const std::size_t count = small.round(membership, events);
    bool satisfied = false;
    if (small.has_completed()) {
      membership.end_round([&](Rank rank) {
        const bool completed = small.leaves(rank, sink);
        satisfied |= completed && collector.is_satisfied_by(rank);
        return completed;
      });
    } else {
      membership.end_round();
    }
    collector.take(count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
