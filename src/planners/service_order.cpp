// Seats of a binomial tree, with and without an order.
#include "planners/service_order.hpp"

#include <algorithm>

namespace sibyl {

Seats::Seats(const PlanRequest& request) : ranks_(request.ranks), root_(request.root) {
  if (request.order.empty()) return;
  by_place_.reserve(static_cast<std::size_t>(ranks_));
  by_place_.push_back(root_);
  for_each_served_rank(request, [this](Rank rank) { by_place_.push_back(rank); });
}

Rank Seats::place_of(Rank rank) const {
  if (by_place_.empty()) return rank >= root_ ? rank - root_ : rank + (ranks_ - root_);
  return static_cast<Rank>(std::find(by_place_.begin(), by_place_.end(), rank) - by_place_.begin());
}

Rank Seats::rank_at(Rank place) const {
  if (by_place_.empty()) return place < ranks_ - root_ ? root_ + place : place - (ranks_ - root_);
  return by_place_[static_cast<std::size_t>(place)];
}

std::vector<Range> Seats::blocks_in_message_order() const {
  std::vector<Range> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks_));
  for (const Rank place : message_order(shape(), 0, ranks_)) {
    blocks.push_back(Range{static_cast<Unit>(rank_at(place)), 1});
  }
  return blocks;
}

}  // namespace sibyl
