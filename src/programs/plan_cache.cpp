// Looks prepared programs up and makes the missing ones; see plan_cache.hpp.
#include "programs/plan_cache.hpp"

#include <algorithm>

namespace sibyl {

bool PlanCache::alike(const SegmentPlan& a, const SegmentPlan& b) {
  return a.segments == b.segments && a.round_time == b.round_time && a.in_order == b.in_order &&
         a.together == b.together;
}

void PlanCache::set_ranks_per_node(Rank ranks_per_node) {
  if (ranks_per_node == ranks_per_node_) return;
  ranks_per_node_ = ranks_per_node;
  for (const auto& entry : entries_) entry->algorithm = nullptr;
}

const Prepared& PlanCache::get(const Algorithm& algorithm, Rank root, bool in_place,
                               std::uint32_t outstanding, const SegmentPlan& cut) {
  const auto matches = [&](const Entry& entry) {
    return entry.algorithm == &algorithm && entry.root == root && entry.in_place == in_place &&
           entry.outstanding == outstanding && alike(entry.cut, cut);
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

PlanRequest PlanCache::request_of(const Entry& entry, const Algorithm& algorithm,
                                  std::span<const double> arrivals) const {
  PlanRequest request;
  request.ranks = ranks_;
  request.root = entry.root;
  request.in_place = entry.in_place;
  request.outstanding = entry.outstanding;
  request.segments = entry.cut.segments;
  if (algorithm.arrivals) {
    if (!entry.cut.together) request.arrivals = arrivals;
    request.round_time = entry.cut.round_time;
    request.in_order = entry.cut.in_order;
  }
  if (algorithm.nodes) request.ranks_per_node = ranks_per_node_;
  return request;
}

void PlanCache::plan(Entry& entry, const Algorithm& algorithm) {
  entry.algorithm = nullptr;  // matches nothing should planning throw
  PlanRequest request = request_of(entry, algorithm, arrivals_);
  if (algorithm.arrivals) request.schedule = ahead_.find(request);
  prepare(algorithm, request, rank_, entry.prepared);
  if (request.schedule != nullptr) ahead_.drop();
  entry.algorithm = &algorithm;
  entry.was = &algorithm;
}

void PlanCache::expect_arrivals(std::span<const double> times, const Algorithm& algorithm,
                                Rank root, const SegmentPlan& cut) {
  const auto serves = [&](const auto& entry) {
    return entry->algorithm == &algorithm && entry->root == root && alike(entry->cut, cut);
  };
  if (cut.together && std::ranges::any_of(entries_, serves)) return;
  Entry entry;
  entry.root = root;
  entry.cut = cut;
  ahead_.begin(request_of(entry, algorithm, times));
}

void PlanCache::replace_arrivals(std::span<const double> times) {
  arrivals_.assign(times.begin(), times.end());
  for (const auto& entry : entries_) {
    const bool follows =
        entry->algorithm != nullptr && entry->algorithm->arrivals && !entry->cut.together;
    if (follows) entry->algorithm = nullptr;
  }
}

void PlanCache::plan_last_again(const Algorithm& algorithm, const SegmentPlan& cut) {
  if (last_ >= entries_.size() || entries_[last_]->was != &algorithm) return;
  const Entry& last = *entries_[last_];
  get(algorithm, last.root, last.in_place, last.outstanding, cut);
}

}  // namespace sibyl
