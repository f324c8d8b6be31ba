// Broadcast on two levels: a pipeline between nodes, each of which hands its ranks what has come.
//
// Idea: a node counts as one rank. Segments go from leader to leader, along a chain where the nodes
// are few beside the segments and else along the circulant graph, and from each leader to its node.
// Given arrivals, a chain goes to the nodes in the order in which they come.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator.
// Cost on n nodes: between them N + n - 2 rounds (chain) or N - 1 + ceil(log2 n) (circulant) of
// alpha + beta m/N, while the memory of each takes k m.
// Source: ../two_level.hpp for the levels, chain.cpp and circulant.cpp for what goes between nodes.
#include <algorithm>
#include <numeric>
#include <vector>

#include "planners/bcast/bcast.hpp"
#include "planners/ceil_log2.hpp"

namespace sibyl::bcast {
namespace {

// Messages of the circulant graph meet at their receivers, those of a chain do not
// (selection/choose_exchange.cpp).
bool goes_along_a_chain(const PlanRequest& request) {
  constexpr double meeting = 1.1;
  if (request.ranks < 3) return true;
  const double segments = request.segments;
  const double deep = ceil_log2(static_cast<std::uint64_t>(request.ranks));
  return segments + request.ranks - 2 < meeting * (segments - 1 + deep);
}

}  // namespace

PlanHeader plan_between_nodes(const PlanRequest& request, Rank rank, Program& program) {
  PlanRequest asked = request;
  asked.arrivals = {};
  if (!goes_along_a_chain(request)) {
    plan_circulant(asked, rank, program);
    return describe_circulant(asked);
  }
  std::vector<Rank> order;
  if (!request.arrivals.empty()) {
    order.resize(static_cast<std::size_t>(request.ranks));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(
        order, {}, [&](Rank node) { return request.arrivals[static_cast<std::size_t>(node)]; });
    asked.order = order;
  }
  plan_chain(asked, rank, program);
  return describe_chain(asked);
}

}  // namespace sibyl::bcast
