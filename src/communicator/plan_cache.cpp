// Looks prepared programs up and makes the missing ones; see plan_cache.hpp.
#include "communicator/plan_cache.hpp"

namespace sibyl {

const Prepared& PlanCache::get(const Algorithm& algorithm, Rank root, bool in_place,
                               std::uint32_t outstanding, std::uint32_t segments) {
  const auto matches = [&](const Entry& entry) {
    return entry.algorithm == &algorithm && entry.root == root && entry.in_place == in_place &&
           entry.outstanding == outstanding && entry.segments == segments;
  };
  if (last_ < entries_.size() && matches(*entries_[last_])) return entries_[last_]->prepared;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (matches(*entries_[i])) {
      last_ = i;
      return entries_[i]->prepared;
    }
  }
  if (entries_.size() < capacity) {
    entries_.push_back(std::make_unique<Entry>());
    last_ = entries_.size() - 1;
  } else {
    last_ = oldest_;
    oldest_ = (oldest_ + 1) % capacity;
  }
  Entry& entry = *entries_[last_];
  entry.algorithm = nullptr;  // matches nothing should planning throw
  PlanRequest request;
  request.ranks = ranks_;
  request.root = root;
  request.in_place = in_place;
  request.outstanding = outstanding;
  request.segments = segments;
  if (algorithm.nodes) request.ranks_per_node = ranks_per_node_;
  prepare(algorithm, request, rank_, entry.prepared);
  entry.algorithm = &algorithm;
  entry.root = root;
  entry.in_place = in_place;
  entry.outstanding = outstanding;
  entry.segments = segments;
  return entry.prepared;
}

}  // namespace sibyl
