// Membership of a round, by merging the waiting queue into the group (listing 6).
#include "planners/clairvoyant/membership.hpp"

#include <cmath>

namespace sibyl::clairvoyant {

// The rest is a multiple of the round time's last place, so what the fused operation gives is exact
// where it lies between 0 and the round time. The quotient, rounded, is that integer or one more.
RoundTime split(double arrival, double round_time) {
  double whole = std::floor(arrival / round_time);
  double rest = std::fma(-whole, round_time, arrival);
  if (rest < 0) {
    whole -= 1;
    rest = std::fma(-whole, round_time, arrival);
  }
  return {static_cast<std::int64_t>(whole), rest};
}

Membership::Membership(const ClairvoyantRequest& request) : root_(request.root) {
  const std::size_t ranks = request.arrivals.size();
  struct Arrival {
    RoundTime time;
    Rank rank;
    auto operator<=>(const Arrival&) const = default;
  };
  std::vector<Arrival> arrivals;
  arrivals.reserve(ranks);
  key_.reserve(ranks);
  for (const double arrival : request.arrivals) {
    key_.push_back(split(arrival + 0.0, request.round_time));
    arrivals.push_back({key_.back(), static_cast<Rank>(arrivals.size())});
  }
  std::sort(arrivals.begin(), arrivals.end());
  waiting_.reserve(ranks);
  for (const Arrival& arrival : arrivals) waiting_.push_back(arrival.rank);
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
