// Who takes part in a round of Clairvoyant, in which order, and when the next round is.
//
// A process waits until its arrival a = k d + f is at most one round after the head, the earliest
// of all processes that have not completed; from then on it is in every group until it completes.
// Its availability (k + rounds since it joined, f) moves by one with every round, as that of
// everybody in the group: with o = k - (round of joining) the order by (o, f, rank) never changes.
// The (o, f) of the head never falls, since whoever joins arrived after the head of the round
// before.
//
// Source: Improving Clairvoyant, sections 5.1 and 5.2, listing 6. Departures: the limit is
// inclusive, the head is sought among waiting processes too, and skipping idle rounds moves the
// availability of the process that waits alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/clairvoyant.hpp"

namespace sibyl::clairvoyant {

// A time in rounds and the exact rest in seconds.
struct RoundTime {
  std::int64_t whole = 0;
  double rest = 0;
  friend auto operator<=>(const RoundTime&, const RoundTime&) = default;
};

// a = whole * round_time + rest, exactly; for a / round_time below 2^50.
RoundTime split(double arrival, double round_time);

class Membership {
 public:
  explicit Membership(const ClairvoyantRequest& request);

  // Begins the next round in which there are at least two processes. False at the end: one process
  // is left, the root.
  bool begin_round();

  std::uint32_t round() const { return static_cast<std::uint32_t>(round_); }
  std::span<const Rank> group() const { return group_; }    // by (availability, rank)
  std::span<const Rank> joined() const { return joined_; }  // those who joined in this round
  // The next who will join, at most `most` of them, in order.
  std::span<const Rank> upcoming(std::size_t most) const {
    return std::span(waiting_).subspan(next_, std::min(most, waiting_.size() - next_));
  }
  // Who accepts what it has sent before: the root or, before it is there, the first of the group.
  Rank sink() const { return root_is_here_ ? root_ : group_.front(); }
  bool root_is_here() const { return root_is_here_; }
  // Availability of a member of the group, less the number of the round; `rest` is the same for
  // those who wait.
  const RoundTime& key(Rank rank) const { return key_[static_cast<std::size_t>(rank)]; }

  // Ends the round; those for whom `completed` holds, asked in the group's order, leave. (The sink
  // never completes.)
  template <class Completed>
  void end_round(Completed completed) {
    std::size_t left = 0;
    for (const Rank rank : group_) {
      if (!completed(rank)) group_[left++] = rank;
    }
    group_.resize(left);
    ++round_;
  }
  void end_round() { ++round_; }

 private:
  bool before(Rank a, Rank b) const { return key(a) != key(b) ? key(a) < key(b) : a < b; }

  void merge(std::span<const Rank> joined);

  Rank root_;
  bool root_is_here_ = false;
  std::int64_t round_ = 0;
  std::vector<RoundTime> key_;  // of those who wait: the arrival; of members: (o, f)
  std::vector<Rank> waiting_;   // by (arrival, rank)
  std::size_t next_ = 0;        // the first of waiting_ who still waits
  std::vector<Rank> group_;
  std::vector<Rank> joined_;
};

}  // namespace sibyl::clairvoyant
