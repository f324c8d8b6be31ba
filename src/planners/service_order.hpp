// Who is served when: what a request's root and order mean to linear and binomial planners.
//
// Linear planners visit the ranks other than the root in the order of the request, or in rank order
// when it gives none. Binomial planners seat rank order[j - 1] at place j of the arrival tree; with
// no order the tree is the contiguous one and ranks sit relative to the root, wrapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planners/tree_shapes.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

template <typename Visit>
void for_each_served_rank(const PlanRequest& request, Visit visit) {
  if (request.order.empty()) {
    for (Rank rank = 0; rank < request.ranks; ++rank) {
      if (rank != request.root) visit(rank);
    }
    return;
  }
  for (const Rank rank : request.order) {
    if (rank != request.root) visit(rank);
  }
}

// When a rank other than the root is served, from 0 on: the round of its messages. A leaf that runs
// without the root's order takes rank order; rounds mean nothing at run time.
inline std::uint32_t turn_of(const PlanRequest& request, Rank rank) {
  if (request.order.empty()) {
    return static_cast<std::uint32_t>(rank < request.root ? rank : rank - 1);
  }
  std::uint32_t turn = 0;
  std::uint32_t found = 0;
  for_each_served_rank(request, [&](Rank served) {
    if (served == rank) found = turn;
    ++turn;
  });
  return found;
}

// The round of the last turn; 0 when there is none.
inline std::uint32_t last_turn(const PlanRequest& request) {
  return request.ranks > 1 ? static_cast<std::uint32_t>(request.ranks) - 2 : 0;
}

// The seats of a binomial tree.
class Seats {
 public:
  explicit Seats(const PlanRequest& request);

  TreeShape shape() const { return by_place_.empty() ? TreeShape::contiguous : TreeShape::arrival; }
  Rank place_of(Rank rank) const;
  Rank rank_at(Rank place) const;
  // The whole blocks of the ranks of the root's message, in message order: the only place where a
  // subtree may be scattered over a buffer. Requires one unit per block.
  std::vector<Range> blocks_in_message_order() const;

 private:
  Rank ranks_;
  Rank root_;
  std::vector<Rank> by_place_;  // empty without an order
};

}  // namespace sibyl
