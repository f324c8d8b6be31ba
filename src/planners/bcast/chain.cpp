// Broadcast of segments along a chain and along a binary tree.
//
// Idea: a rank passes on each segment as soon as it has it, while the next one comes in; in a chain
// to one other rank, in a binary tree to two, which takes twice as long a segment and reaches all
// ranks sooner. Ranks are seated in the order of the request, or as they follow the root.
//
// p no power of two: no matter; the binary tree is filled level by level.
// Commutativity: no operator.
// Cost in N segments: chain (N+p-2) (alpha + beta m/N); binary tree about
//   (2N + 2 log2 p) (alpha + beta m/N).
// Source: the usual pipelines; J. Pjesivac-Grbovic et al., Performance Analysis of MPI Collective
//   Operations, 2007, section 3.
#include <algorithm>
#include <bit>
#include <vector>

#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"

namespace sibyl::bcast {
namespace {

// Ranks seated in a tree in which place j has the children d j + 1 to d j + d.
class Pipeline {
 public:
  Pipeline(const PlanRequest& request, Rank degree) : request_(request), degree_(degree) {
    if (request.order.empty()) return;
    by_place_.push_back(request.root);
    for_each_served_rank(request, [&](Rank rank) { by_place_.push_back(rank); });
  }

  Rank rank_at(Rank place) const {
    if (!by_place_.empty()) return by_place_[static_cast<std::size_t>(place)];
    return static_cast<Rank>((std::int64_t{request_.root} + place) % request_.ranks);
  }
  Rank place_of(Rank rank) const {
    if (by_place_.empty()) {
      return static_cast<Rank>((std::int64_t{rank} - request_.root + request_.ranks) %
                               request_.ranks);
    }
    return static_cast<Rank>(std::ranges::find(by_place_, rank) - by_place_.begin());
  }
  // The round in which a place has the first segment; the others follow `degree` rounds apart.
  std::uint32_t first_round(Rank place) const {
    if (degree_ == 1) return static_cast<std::uint32_t>(place);
    std::uint32_t round = 0;
    for (; place > 0; place = (place - 1) / degree_) {
      round += static_cast<std::uint32_t>((place - 1) % degree_) + 1;
    }
    return round;
  }
  // The round in which the child gets it.
  std::uint32_t round_of(Rank child, Unit segment) const {
    return first_round(child) - 1 + segment * spacing();
  }
  std::uint32_t spacing() const {
    return request_.ranks == 2 ? 1 : static_cast<std::uint32_t>(degree_);
  }
  std::uint32_t rounds() const {
    if (request_.ranks == 1) return 0;
    return latest_first_round() + (request_.segments - 1) * spacing();
  }

  void write(Rank rank, Program& program) const {
    program.clear();
    ProgramBuilder build(program);
    const bool at_root = rank == request_.root;
    const Gate gate = request_.background && !at_root ? Gate::on_start : Gate::on_arrival;
    const Buffer buffer = at_root ? Buffer::send : Buffer::receive;
    const Rank place = place_of(rank);
    struct Message {
      std::uint32_t round;
      Rank child;  // no_rank: from the parent
      Unit segment;
    };
    std::vector<Message> messages;
    for (Unit segment = 0; segment < request_.segments; ++segment) {
      if (!at_root) messages.push_back({round_of(place, segment), no_rank, segment});
      for (Rank i = 1; i <= degree_; ++i) {
        const std::int64_t child = std::int64_t{place} * degree_ + i;
        if (child >= request_.ranks) break;
        const auto at = static_cast<Rank>(child);
        messages.push_back({round_of(at, segment), at, segment});
      }
    }
    std::ranges::stable_sort(messages, {}, &Message::round);
    for (const Message& message : messages) {
      const Slice data = ProgramBuilder::slice(buffer, message.segment);
      if (message.child == no_rank) {
        build.receive(rank_at((place - 1) / degree_), data, message.round, gate);
      } else {
        build.send(rank_at(message.child), data, message.round, gate);
      }
    }
  }

 private:
  // Of the places of the last level of a binary tree, numbered from 0 on, one with the most ones in
  // its number is last; or the last place of the level above.
  std::uint32_t latest_first_round() const {
    if (degree_ == 1) return first_round(request_.ranks - 1);
    const auto ranks = std::max(static_cast<std::uint32_t>(request_.ranks), 1U);
    const auto level = static_cast<std::uint32_t>(std::bit_width(ranks) - 1);
    const std::uint32_t last = ranks - (1U << level);
    auto ones = static_cast<std::uint32_t>(std::popcount(last));
    for (std::uint32_t bit = 0; bit < level; ++bit) {
      if ((last >> bit & 1) == 0) continue;
      ones = std::max(ones, static_cast<std::uint32_t>(std::popcount(last >> (bit + 1))) + bit);
    }
    return std::max(level + ones, 2 * (level - 1));
  }

  const PlanRequest& request_;
  Rank degree_;
  std::vector<Rank> by_place_;  // empty without an order
};

PlanHeader describe(std::string_view algorithm, const PlanRequest& request, Rank degree) {
  const std::uint32_t rounds = Pipeline(request, degree).rounds();
  PlanHeader header = plain_header(Collective::bcast, algorithm, request, rounds);
  header.segments = request.segments;
  header.tag_span = request.ranks > 1 ? request.segments : 1;
  return header;
}

}  // namespace

std::string check_segments(const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the vector into at least 1";
  constexpr std::uint32_t most = 1U << 20;
  if (request.segments <= most) return {};
  return std::to_string(request.segments) +
         " segments are more than a broadcast can use; ask for " + std::to_string(most) +
         " at most";
}

PlanHeader describe_chain(const PlanRequest& request) { return describe("chain", request, 1); }
void plan_chain(const PlanRequest& request, Rank rank, Program& program) {
  Pipeline(request, 1).write(rank, program);
}

PlanHeader describe_binary_tree(const PlanRequest& request) {
  return describe("binary-tree", request, 2);
}
void plan_binary_tree(const PlanRequest& request, Rank rank, Program& program) {
  Pipeline(request, 2).write(rank, program);
}

}  // namespace sibyl::bcast
