// Requests and the bound. The rounds themselves: exchange_rounds.cpp.
#include "planners/clairvoyant/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planners/ceil_log2.hpp"
#include "planners/clairvoyant/exchange_state.hpp"

namespace sibyl {
namespace clairvoyant {

Exchange::Exchange(std::span<const std::uint32_t> arrivals, std::uint32_t segments, Rank source)
    : arrivals_(arrivals),
      ranks_(static_cast<std::uint32_t>(arrivals.size())),
      segments_(segments),
      source_(source),
      last_(*std::ranges::max_element(arrivals)),
      left_(std::uint64_t{segments} * (ranks_ - 1) * (source == no_rank ? 2 : 1)) {
  present_.reset(1, ranks_);
  free_.reset(2, ranks_);
  holds_.reset(ranks_, segments);
  owned_.reset(ranks_, segments);
  pending_.reset(ranks_, ranks_);
  results_.reset(ranks_, segments);
  holders_.reset(segments, ranks_);
  number_.resize(segments);
  std::iota(number_.begin(), number_.end(), 0U);
  owner_.assign(segments, 0);
  to_send_.assign(ranks_, 0);
  result_count_.assign(ranks_, 0);
  by_arrival_.resize(ranks_);
  std::iota(by_arrival_.begin(), by_arrival_.end(), 0U);
  by_work_ = by_arrival_;
  by_results_ = by_arrival_;
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
  return clairvoyant::Exchange(rounds, request.segments, request.source).run();
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
