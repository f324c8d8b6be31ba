// Membership of a round, by merging the waiting queue into the group (listing 6).
#include "planners/clairvoyant/membership.hpp"

#include <cmath>
#include <iterator>
#include <numeric>

namespace sibyl::clairvoyant {

// std::fmod is exact. Rounding in the quotient is below a half as long as it is below 2^51.
RoundTime split(double arrival, double round_time) {
  const double rest = std::fmod(arrival, round_time);
  return {static_cast<std::int64_t>(std::nearbyint((arrival - rest) / round_time)), rest};
}

Membership::Membership(const ClairvoyantRequest& request) : root_(request.root) {
  const std::size_t ranks = request.arrivals.size();
  key_.reserve(ranks);
  for (const double arrival : request.arrivals) {
    key_.push_back(split(arrival + 0.0, request.round_time));
  }
  waiting_.resize(ranks);
  std::iota(waiting_.begin(), waiting_.end(), 0);
  std::sort(waiting_.begin(), waiting_.end(), [this](Rank a, Rank b) { return before(a, b); });
  group_.reserve(ranks);
}

// One or two find their place by bisection: merging looks at every member.
void Membership::merge(std::span<const Rank> joined) {
  const auto earlier = [this](Rank a, Rank b) { return before(a, b); };
  if (joined.size() <= 2) {
    for (const Rank rank : joined) {
      group_.insert(std::upper_bound(group_.begin(), group_.end(), rank, earlier), rank);
    }
    return;
  }
  const auto members = static_cast<std::ptrdiff_t>(group_.size());
  group_.insert(group_.end(), joined.begin(), joined.end());
  std::inplace_merge(group_.begin(), group_.begin() + members, group_.end(), earlier);
}

bool Membership::begin_round() {
  joined_.clear();
  for (;;) {
    const bool some_wait = next_ < waiting_.size();
    if (!some_wait) break;
    // The head, as (o, f).
    RoundTime arrival = key(waiting_[next_]);
    arrival.whole -= round_;
    const RoundTime head = group_.empty() ? arrival : std::min(key(group_.front()), arrival);
    const RoundTime limit{head.whole + 1, head.rest};
    if (arrival <= limit) {
      const std::size_t joined = joined_.size();
      do {
        const Rank rank = waiting_[next_++];
        key_[static_cast<std::size_t>(rank)] = arrival;
        joined_.push_back(rank);
        root_is_here_ |= rank == root_;
        if (next_ == waiting_.size()) break;
        arrival = key(waiting_[next_]);
        arrival.whole -= round_;
      } while (arrival <= limit);
      merge(std::span(joined_).subspan(joined));
    }
    if (group_.size() > 1 || next_ == waiting_.size()) break;
    // Alone: ceil((next arrival - head) / d) - 1 rounds in which nothing can happen.
    const RoundTime& next = key(waiting_[next_]);
    const RoundTime& alone = key(group_.front());
    round_ = next.whole - alone.whole - (next.rest > alone.rest ? 0 : 1);
  }
  return group_.size() > 1;
}

}  // namespace sibyl::clairvoyant
