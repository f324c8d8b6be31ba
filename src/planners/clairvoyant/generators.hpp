// What a generator is: a function that hands the events of one round after the other to a
// collector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planners/clairvoyant/membership.hpp"
#include "sibyl/clairvoyant.hpp"

namespace sibyl::clairvoyant {

// Where events go: all of them, or those of one rank.
class Collector {
 public:
  Collector(ClairvoyantEvents& events, Rank only) : events_(events), only_(only) {}

  // Room for the events of a round; at most one per member of the group.
  ClairvoyantEvent* room(std::size_t most) { return events_.room(most); }
  // The first `count` events in that room are those of the round.
  void take(std::size_t count);
  // Whether this rank has no more part in the schedule: it has sent its last segment.
  bool is_satisfied_by(Rank completed) const { return completed == only_; }

 private:
  ClairvoyantEvents& events_;
  Rank only_;  // no_rank: everybody
};

// Each generates the schedule of a checked request of at least two ranks and one segment.
void generate_linear(const ClairvoyantRequest& request, Collector& collector);
void generate_pairing_heap(const ClairvoyantRequest& request, Collector& collector);
void generate_segment_tree(const ClairvoyantRequest& request, Collector& collector);
void generate_fast(const ClairvoyantRequest& request, Collector& collector);

// What generate_fast does while few are there at a time. It goes from one way to another at the
// begin of a round.
struct SmallMember {
  Rank rank;
  std::uint64_t held;  // segments
};
// Whether sets of so many members and segments are few enough words for generate_small to be the
// faster way.
bool is_small(std::size_t members, std::size_t segments);
// Goes on with a round that has begun, in which `members`, in the group's order, are those of the
// group who were there before. Returns false if the schedule is complete; else a round has begun in
// which the group is not small, and `members` are given for it.
bool generate_small(const ClairvoyantRequest& request, Membership& membership, Collector& collector,
                    std::vector<SmallMember>& members);
// All rounds for one segment.
void generate_one_segment(const ClairvoyantRequest& request, Collector& collector);

}  // namespace sibyl::clairvoyant
