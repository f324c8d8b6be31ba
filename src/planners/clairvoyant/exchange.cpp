// Requests, owners, the bound. The rounds themselves: exchange_rounds.cpp.
#include "planners/clairvoyant/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planners/ceil_log2.hpp"
#include "planners/clairvoyant/exchange_state.hpp"

namespace sibyl {
namespace clairvoyant {

Exchange::Exchange(std::span<const std::uint32_t> arrivals, std::uint32_t segments, Rank source,
                   bool new_owners)
    : arrivals_(arrivals),
      ranks_(static_cast<std::uint32_t>(arrivals.size())),
      segments_(segments),
      source_(source),
      new_owners_(new_owners),
      last_(*std::ranges::max_element(arrivals)),
      left_(std::uint64_t{segments} * (ranks_ - 1) * (source == no_rank ? 2 : 1)) {
  present_.reset(1, ranks_);
  free_.reset(2, ranks_);
  holds_.reset(ranks_, segments);
  owned_.reset(ranks_, segments);
  pending_.reset(ranks_, ranks_);
  results_.reset(ranks_, segments);
  holders_.reset(segments, ranks_);
  owner_.assign(segments, 0);
  to_send_.assign(ranks_, 0);
  by_arrival_.resize(ranks_);
  std::iota(by_arrival_.begin(), by_arrival_.end(), 0U);
  by_work_ = by_arrival_;
  std::ranges::stable_sort(by_arrival_, {}, [&](std::uint32_t r) { return arrivals_[r]; });
  if (source_ != no_rank) {
    owner_.assign(segments, static_cast<std::uint32_t>(source_));
    partials_.assign(segments, 1);
    for (std::uint32_t s = 0; s < segments; ++s) finish(s);
    return;
  }
  partials_.assign(segments, ranks_);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t s = 0; s < segments; ++s) holds_.set(r, s);
  }
  choose_first_owners();
  note_owners();
}

// Were all operands sent to owners, a rank would receive ranks - 2 more messages for each segment
// that it owns than for one that it does not: as many as the time allows that it has more than the
// last one. Owned segments have consecutive numbers.
void Exchange::choose_first_owners() {
  struct Room {
    std::int64_t left;
    std::uint32_t rank;
  };
  const auto less = [](const Room& a, const Room& b) {
    return a.left != b.left ? a.left < b.left : a.rank > b.rank;
  };
  std::vector<Room> room;
  room.reserve(ranks_);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    room.push_back({std::min<std::int64_t>(segments_, last_ - arrivals_[r]), r});
  }
  std::ranges::make_heap(room, less);
  std::vector<std::uint32_t> count(ranks_, 0);
  for (std::uint32_t s = 0; s < segments_; ++s) {
    std::ranges::pop_heap(room, less);
    ++count[room.back().rank];
    room.back().left -= std::max<std::int64_t>(1, std::int64_t{ranks_} - 2);
    std::ranges::push_heap(room, less);
  }
  std::uint32_t next = 0;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t i = 0; i < count[r]; ++i) owner_[next++] = r;
  }
}

// The segments with most partials first, each to the holder that has least to merge.
void Exchange::choose_owners_among_holders() {
  order_.resize(segments_);
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, std::greater<>{}, [&](std::uint32_t s) { return partials_[s]; });
  std::vector<std::uint64_t> work(ranks_, 0);
  for (const std::uint32_t s : order_) {
    if (partials_[s] < 2) continue;
    std::uint32_t best = nowhere;
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      const std::uint32_t r = (i + s) % ranks_;
      if (holds_.has(r, s) && (best == nowhere || work[r] < work[best])) best = r;
    }
    owner_[s] = best;
    // A segment counts a little even where owning it costs nothing.
    work[best] += std::uint64_t{ranks_} * (partials_[s] - 2) + 1;
  }
}

void Exchange::note_owners() {
  owned_.reset(ranks_, segments_);
  pending_.reset(ranks_, ranks_);
  std::ranges::fill(to_send_, 0U);
  for (std::uint32_t s = 0; s < segments_; ++s) owned_.set(owner_[s], s);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t s = 0; s < segments_; ++s) {
      if (owner_[s] == r || !holds_.has(r, s)) continue;
      pending_.set(r, owner_[s]);
      ++to_send_[r];
    }
  }
}

}  // namespace clairvoyant

std::vector<std::uint32_t> arrival_rounds(std::span<const double> arrivals, double round_time) {
  const double first = *std::ranges::min_element(arrivals);
  std::vector<std::uint32_t> rounds;
  rounds.reserve(arrivals.size());
  for (const double arrival : arrivals) {
    const double round = std::ceil((arrival - first) / round_time);
    rounds.push_back(static_cast<std::uint32_t>(std::min(round, 1e9)));
  }
  return rounds;
}

ClairvoyantEvents make_exchange(const ExchangeRequest& request) {
  if (request.arrivals.size() < 2 || request.segments == 0) return {};
  const std::vector<std::uint32_t> rounds = arrival_rounds(request.arrivals, request.round_time);
  const auto run = [&](bool new_owners) {
    return clairvoyant::Exchange(rounds, request.segments, request.source, new_owners).run();
  };
  // A second try is worth its time where much can be gained and it does not take long.
  constexpr double close_enough = 1.04;
  constexpr std::size_t many_ranks = 256;
  if (request.source != no_rank) return run(false);
  ClairvoyantEvents changed = run(true);
  const std::uint32_t last = *std::ranges::max_element(rounds);
  const double taken = changed.view().back().round + 1 - last;
  if (rounds.size() > many_ranks ||
      taken <= close_enough * exchange_bound(rounds, request.segments, true)) {
    return changed;
  }
  ClairvoyantEvents kept = run(false);
  return changed.view().back().round < kept.view().back().round ? std::move(changed)
                                                                : std::move(kept);
}

double exchange_bound(std::span<const std::uint32_t> arrival_rounds, std::uint32_t segments,
                      bool merges) {
  const auto ranks = static_cast<double>(arrival_rounds.size());
  const auto latency = static_cast<double>(ceil_log2(arrival_rounds.size()));
  if (!merges) return std::max(latency, static_cast<double>(segments));
  // Merges before the last arrival: of j ranks that are there each sends one a round and in all no
  // more than it has, and one partial of every segment is left.
  std::vector<std::uint32_t> order(arrival_rounds.begin(), arrival_rounds.end());
  std::ranges::sort(order);
  const std::uint32_t last = order.back();
  std::uint64_t merged = 0;
  std::uint64_t had = 0;
  for (std::size_t j = 1; j < order.size(); ++j) {
    const std::uint64_t gap = order[j] - order[j - 1];
    merged = std::min<std::uint64_t>(merged + j * gap, std::uint64_t{segments} * (j - 1));
    had += std::min(segments, last - order[j - 1]);
  }
  const double kappa = ranks - static_cast<double>(std::min(merged, had)) / segments;
  // Every segment leaves the last rank, as its operand or as the sum. The last one to do so does
  // not before round N, and two ranks have its sum then at most; their number doubles in a round.
  const double from_last = segments + latency - 1;
  return std::max(from_last, segments * (ranks + kappa - 2) / ranks);
}

}  // namespace sibyl
