// What a generator is: a function that hands the events of one round after the other to a
// collector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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

// generate_fast in pieces. It goes from one way of making rounds to another where one begins.
//
// The members who are there when a way is taken, in the group's order, and what they hold.
struct SmallMember {
  Rank rank;
  std::uint64_t held;  // segments
};
class RoundMaker {
 public:
  RoundMaker() = default;
  virtual ~RoundMaker() = default;
  RoundMaker(const RoundMaker&) = delete;
  RoundMaker& operator=(const RoundMaker&) = delete;

  // Whether this is a good way while the group has so many members.
  virtual bool suits(std::size_t members) const = 0;
  // Makes the round that has begun, and ends it. False: the collector wants no more.
  virtual bool round(Membership& membership, Collector& collector) = 0;
  // Those of the group who were there before the round that has begun.
  virtual void hand_over(std::span<const Rank> group, std::vector<SmallMember>& members) const = 0;
};
// The way for groups of so many members and so few segments that their sets are few words; nullptr
// where they are not.
std::unique_ptr<RoundMaker> make_small(const ClairvoyantRequest& request, std::size_t group,
                                       std::span<const SmallMember> members);
// Whether there is such a way for more than one segment.
bool is_small(std::size_t group, std::size_t segments);

class LargeRounds;

// The arrivals of the request must outlive this.
class Rounds {
 public:
  explicit Rounds(const ClairvoyantRequest& request);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Another round. False at the end.
  bool next(Collector& collector);

 private:
  void change_maker(std::span<const Rank> group);

  ClairvoyantRequest request_;
  Membership membership_;
  std::vector<SmallMember> members_;
  RoundMaker* maker_ = nullptr;  // one of these
  std::unique_ptr<RoundMaker> small_;
  std::unique_ptr<LargeRounds> large_;
};

}  // namespace sibyl::clairvoyant
