// Looks prepared programs up and makes the missing ones; see plan_cache.hpp.
#include "communicator/plan_cache.hpp"

#include <algorithm>

namespace sibyl {

const Prepared& PlanCache::get(const Algorithm& algorithm, Rank root, bool in_place,
                               std::uint32_t outstanding, const SegmentPlan& cut) {
  const auto matches = [&](const Entry& entry) {
    return entry.algorithm == &algorithm && entry.root == root && entry.in_place == in_place &&
           entry.outstanding == outstanding && entry.cut.segments == cut.segments &&
           entry.cut.round_time == cut.round_time && entry.cut.in_order == cut.in_order &&
           entry.cut.together == cut.together;
  };
  if (last_ < entries_.size() && matches(*entries_[last_])) return entries_[last_]->prepared;
  const auto dropped = [](const auto& entry) { return entry->algorithm == nullptr; };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (matches(*entries_[i])) {
      last_ = i;
      return entries_[i]->prepared;
    }
  }
  if (const auto free = std::ranges::find_if(entries_, dropped); free != entries_.end()) {
    last_ = static_cast<std::size_t>(free - entries_.begin());
  } else if (entries_.size() < capacity) {
    entries_.push_back(std::make_unique<Entry>());
    last_ = entries_.size() - 1;
  } else {
    last_ = oldest_;
    oldest_ = (oldest_ + 1) % capacity;
  }
  Entry& entry = *entries_[last_];
  entry.root = root;
  entry.in_place = in_place;
  entry.outstanding = outstanding;
  entry.cut = cut;
  plan(entry, algorithm);
  return entry.prepared;
}

void PlanCache::plan(Entry& entry, const Algorithm& algorithm) const {
  entry.algorithm = nullptr;  // matches nothing should planning throw
  PlanRequest request;
  request.ranks = ranks_;
  request.root = entry.root;
  request.in_place = entry.in_place;
  request.outstanding = entry.outstanding;
  request.segments = entry.cut.segments;
  if (algorithm.arrivals) {
    if (!entry.cut.together) request.arrivals = arrivals_;
    request.round_time = entry.cut.round_time;
    request.in_order = entry.cut.in_order;
  }
  if (algorithm.nodes) request.ranks_per_node = ranks_per_node_;
  prepare(algorithm, request, rank_, entry.prepared);
  entry.algorithm = &algorithm;
}

void PlanCache::replace_arrivals(std::span<const double> times) {
  arrivals_.assign(times.begin(), times.end());
  const Algorithm* again = last_ < entries_.size() ? entries_[last_]->algorithm : nullptr;
  for (const auto& entry : entries_) {
    if (entry->algorithm != nullptr && entry->algorithm->arrivals) entry->algorithm = nullptr;
  }
  if (again != nullptr && again->arrivals) plan(*entries_[last_], *again);
}

}  // namespace sibyl
