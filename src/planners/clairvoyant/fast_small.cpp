// Clairvoyant while a set of members is one word or two, and one of segments is one.
//
// Idea: listing 2 as it stands, but a receiver's segments are the bits of one word and the free
// holders of a segment those of another. Holders stand in the order of availability, so the first
// bit is whom listing 2 finds first. Who joins or leaves moves the bits of those behind, in one
// word per segment: less than what the events of a member cost. There is next to nothing to set
// up, which is what counts where few are there at a time, however many there are in all. Failed
// searches cost more the more members and segments there are; from some twenty of both on, what
// fast.cpp sets up pays, and it takes over until the group is small again. Two words are for a
// handful of segments, where a group is soon small again.
//
// p no power of two: no matter. Commutativity: as linear.cpp.
// Cost of generation: a few operations per event and failed search; 2 KiB.
// Source: the schedule is that of linear.cpp; how it is found here is Sibyl's own.
#include <algorithm>
#include <array>
#include <bit>

#include "planners/clairvoyant/generators.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;
__extension__ using TwoWords = unsigned __int128;

template <class Set>
constexpr std::size_t most = 8 * sizeof(Set);
template <class Set>
Set bit(std::size_t index) {
  return Set{1} << index;
}
template <class Set>
Set lowest_ones(std::size_t count) {
  return count < most<Set> ? bit<Set>(count) - 1 : ~Set{0};
}
std::size_t lowest(Word word) { return static_cast<std::size_t>(std::countr_zero(word)); }
std::size_t lowest(TwoWords words) {
  const auto low = static_cast<Word>(words);
  return low != 0 ? lowest(low) : 64 + lowest(static_cast<Word>(words >> 64));
}

// Whether that many members are best held in a `Set`.
template <class Set>
bool fits(std::size_t members, std::size_t segments);
template <>
bool fits<Word>(std::size_t members, std::size_t segments) {
  constexpr std::size_t few = 24;
  return members <= 64 && segments <= 64 && (members <= few || segments <= few);
}
template <>
bool fits<TwoWords>(std::size_t members, std::size_t segments) {
  return members <= 128 && segments <= 4 && !fits<Word>(2 * members, segments);
}

template <class Set>  // of members
class Small final : public RoundMaker {
 public:
  Small(const ClairvoyantRequest& request, std::span<const SmallMember> members)
      : members_(members.size()),
        segments_(request.segments),
        root_(request.root),
        root_first_(request.root_order == RootOrder::first) {
    for (std::size_t p = 0; p < members.size(); ++p) {
      rank_[p] = members[p].rank;
      held_[p] = members[p].held;
      for (Word held = held_[p]; held != 0; held &= held - 1) {
        holders_[lowest(held)] |= bit<Set>(p);
      }
    }
  }

  bool suits(std::size_t members) const override { return fits<Set>(members, segments_); }

  bool round(Membership& membership, Collector& collector) override {
    const std::span<const Rank> group = membership.group();
    if (!membership.joined().empty()) join(group);
    const std::size_t count = find_events(membership, collector.room(group.size()));
    bool satisfied = false;
    if (has_completed_) {
      std::size_t place = 0;
      membership.end_round([&](Rank rank) {
        const bool completed = leaves(place);
        if (!completed) ++place;
        satisfied |= completed && collector.is_satisfied_by(rank);
        return completed;
      });
    } else {
      membership.end_round();
    }
    collector.take(count);
    return !satisfied;
  }

  void hand_over(std::span<const Rank>, std::vector<SmallMember>& members) const override {
    members.clear();
    for (std::size_t p = 0; p < members_; ++p) members.push_back({rank_[p], held_[p]});
  }

 private:
  // Who joins holds everything. The members who were there stand in the group as they did.
  void join(std::span<const Rank> group) {
    const Word all = lowest_ones<Word>(segments_);
    Set behind = 0;
    for (std::size_t p = 0; p < group.size(); ++p) {
      if (p == members_) {
        behind |= bit<Set>(p);
      } else if (rank_[p] != group[p]) {
        std::copy_backward(&rank_[p], &rank_[0] + members_, &rank_[0] + members_ + 1);
        std::copy_backward(&held_[p], &held_[0] + members_, &held_[0] + members_ + 1);
        const Set before = bit<Set>(p) - 1;
        for (std::size_t s = 0; s < segments_; ++s) {
          const Set holders = holders_[s];
          holders_[s] = (holders & before) | bit<Set>(p) | (holders & ~before) << 1;
        }
      } else {
        continue;
      }
      rank_[p] = group[p];
      held_[p] = all;
      ++members_;
    }
    for (std::size_t s = 0; s < segments_; ++s) holders_[s] |= behind;
  }

  // Writes the events of a round; returns their number.
  std::size_t find_events(const Membership& membership, ClairvoyantEvent* events) {
    round_ = membership.round();
    event_ = events;
    free_ = lowest_ones<Set>(members_);
    sink_ = 0;
    if (membership.root_is_here()) {
      while (rank_[sink_] != root_) ++sink_;
    }
    first_ = root_first_ && membership.root_is_here() ? bit<Set>(sink_) : 0;
    has_completed_ = false;

    // The sink also receives what it has sent.
    serve(sink_, lowest_ones<Word>(segments_));
    if (event_ != events) held_[sink_] |= bit<Word>(events->segment);
    for (std::size_t p = 0; p < members_; ++p) {
      if (p != sink_) serve(p, held_[p]);
    }
    // What was received can be sent again.
    for (ClairvoyantEvent* e = events; e < event_; ++e) {
      const auto receiver = static_cast<std::size_t>(e->receiver);
      holders_[e->segment] |= bit<Set>(receiver);
      e->receiver = rank_[receiver];
    }
    return static_cast<std::size_t>(event_ - events);
  }

  // Whether a member has sent everything; those behind it move up then.
  bool leaves(std::size_t place) {
    if (place == sink_ || held_[place] != 0) return false;
    std::copy(&rank_[place] + 1, &rank_[0] + members_, &rank_[place]);
    std::copy(&held_[place] + 1, &held_[0] + members_, &held_[place]);
    --members_;
    const Set before = bit<Set>(place) - 1;
    for (std::size_t s = 0; s < segments_; ++s) {
      holders_[s] = (holders_[s] & before) | (holders_[s] >> 1 & ~before);
    }
    if (place < sink_) --sink_;
    return true;
  }

  // The smallest of the segments that somebody else who is free holds, from the first who does.
  // Events name the receiver's place until the end of the round.
  void serve(std::size_t receiver, Word segments) {
    const Set own = bit<Set>(receiver);
    for (; segments != 0; segments &= segments - 1) {
      const std::size_t segment = lowest(segments);
      const Set found = holders_[segment] & free_ & ~own;
      if (found == 0) continue;
      const std::size_t sender = lowest((found & first_) != 0 ? first_ : found);
      free_ &= ~bit<Set>(sender);
      holders_[segment] &= ~(bit<Set>(sender) | own);
      held_[sender] &= ~bit<Word>(segment);
      has_completed_ |= held_[sender] == 0;
      *event_++ = {round_, rank_[sender], static_cast<Rank>(receiver),
                   static_cast<std::uint32_t>(segment)};
      return;
    }
  }

  std::size_t members_;
  std::array<Rank, most<Set>> rank_;  // of a member, by availability
  std::array<Word, most<Set>> held_;  // by a member: segments, A or P
  std::size_t segments_;
  Rank root_;
  bool root_first_;
  std::array<Set, 64> holders_{};  // per segment: members, A or P
  // Of the round:
  std::size_t sink_ = 0;
  Set free_ = 0;   // who has not sent
  Set first_ = 0;  // who is sought before all others
  std::uint32_t round_ = 0;
  ClairvoyantEvent* event_ = nullptr;
  bool has_completed_ = false;
};

// One segment. Every member of the group holds it, so they send in pairs: the first to the sink,
// the third to the second and so on, the sink left out.
class Pairs final : public RoundMaker {
 public:
  bool suits(std::size_t) const override { return true; }
  void hand_over(std::span<const Rank>, std::vector<SmallMember>&) const override {}

  bool round(Membership& membership, Collector& collector) override {
    const Rank sink = membership.sink();
    Rank receiver = sink;
    ClairvoyantEvent* const events = collector.room(membership.group().size());
    std::size_t count = 0;
    bool satisfied = false;
    membership.end_round([&](Rank rank) {
      if (rank == sink) return false;
      const bool sends = receiver != no_rank;
      if (sends) {
        events[count++] = {membership.round(), rank, receiver, 0};
        satisfied |= collector.is_satisfied_by(rank);
      }
      receiver = sends ? no_rank : rank;
      return sends;
    });
    collector.take(count);
    return !satisfied;
  }
};

}  // namespace

bool is_small(std::size_t group, std::size_t segments) {
  return fits<Word>(group, segments) || fits<TwoWords>(group, segments);
}

std::unique_ptr<RoundMaker> make_small(const ClairvoyantRequest& request, std::size_t group,
                                       std::span<const SmallMember> members) {
  if (request.segments == 1) return std::make_unique<Pairs>();
  if (fits<Word>(group, request.segments)) return std::make_unique<Small<Word>>(request, members);
  if (fits<TwoWords>(group, request.segments)) {
    return std::make_unique<Small<TwoWords>>(request, members);
  }
  return nullptr;
}

}  // namespace sibyl::clairvoyant
