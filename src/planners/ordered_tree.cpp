// Joins cubes; see ordered_tree.hpp.
//
// A cube's *fixed root* is its last rank, which every rank can compute. The fixed roots of two
// neighbours exchange what they know of their cubes; each tells its gather root where that is
// another rank. Whoever knows both cubes knows the joined one.
#include "planners/ordered_tree.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"

namespace sibyl {
namespace {

OrderedCube joined(const OrderedCube& winner, const OrderedCube& loser) {
  return {winner.gather_root, winner.others + loser.total(), winner.own};
}

// Calls `join(winner, loser)` for all joins within the cube, of whose ranks `sizes` are.
template <class Join>
void for_each_join(const JoinOrder::Cube& cube, std::span<const std::uint64_t> sizes,
                   Rank given_root, const NodeOrder& of_nodes, Join join) {
  const JoinOrder order(of_nodes);
  std::vector<OrderedCube> cubes;  // of the iteration, in rank order
  cubes.reserve(sizes.size());
  for (Rank r = cube.first; r < cube.end; ++r) {
    cubes.push_back({r, 0, sizes[static_cast<std::size_t>(r - cube.first)]});
  }
  for (std::uint32_t iteration = 0; cubes.size() > 1; ++iteration) {
    std::size_t kept = 0;
    std::size_t next = 0;
    for (Rank first = cube.first; first < cube.end;) {
      const JoinOrder::Cube lower_place = order.cube(first, iteration);
      const JoinOrder::Cube upper_place = order.neighbour(lower_place, iteration);
      const OrderedCube lower = cubes[next++];
      first = upper_place.end;
      if (upper_place.empty()) {
        cubes[kept++] = lower;
        continue;
      }
      const OrderedCube upper = cubes[next++];
      const bool lower_wins = lower_cube_wins(lower, upper, given_root);
      const OrderedCube& winner = lower_wins ? lower : upper;
      const OrderedCube& loser = lower_wins ? upper : lower;
      const JoinOrder::Cube& place = lower_wins ? upper_place : lower_place;
      cubes[kept++] = joined(winner, loser);
      join(winner.gather_root,
           OrderedChild{loser.gather_root, iteration, place.first, place.size(), loser.total()});
    }
    cubes.resize(kept);
  }
}

}  // namespace

bool lower_cube_wins(const OrderedCube& lower, const OrderedCube& upper, Rank given_root) {
  if (lower.gather_root == given_root) return true;
  if (upper.gather_root == given_root) return false;
  if (lower.others != upper.others) return lower.others > upper.others;
  return lower.own >= upper.own;
}

JoinOrder::JoinOrder(const NodeOrder& order)
    : order_(order),
      within_(ceil_log2(static_cast<std::uint64_t>(order.largest_node()))),
      between_(ceil_log2(static_cast<std::uint64_t>(order.nodes()))) {}

JoinOrder::Cube JoinOrder::cube(Rank rank, std::uint32_t iteration) const {
  const auto cut = [](std::int64_t end, Rank limit) {
    return static_cast<Rank>(std::min<std::int64_t>(end, limit));
  };
  const Rank node = order_.node_of(rank);
  if (iteration < within_) {
    const Rank begin = order_.begin(node);
    const Rank first = begin + ((rank - begin) & ~((Rank{1} << iteration) - 1));
    return {first,
            cut(std::int64_t{first} + (std::int64_t{1} << iteration), order_.begin(node + 1))};
  }
  const std::int64_t nodes = std::int64_t{1} << (iteration - within_);
  const auto first = static_cast<Rank>(node / nodes * nodes);
  return {order_.begin(first), order_.begin(cut(first + nodes, order_.nodes()))};
}

JoinOrder::Cube JoinOrder::neighbour(const Cube& cube, std::uint32_t iteration) const {
  const Cube joined = this->cube(cube.first, iteration + 1);
  return joined.first == cube.first ? Cube{cube.end, joined.end} : Cube{joined.first, cube.first};
}

OrderedCube ordered_cube(const JoinOrder& order, const JoinOrder::Cube& place,
                         std::uint32_t iteration, std::span<const std::uint64_t> sizes,
                         Rank given_root) {
  if (iteration == 0) return {place.first, 0, sizes[static_cast<std::size_t>(place.first)]};
  const std::uint32_t before = iteration - 1;
  const JoinOrder::Cube lower = order.cube(place.first, before);
  const JoinOrder::Cube upper = order.neighbour(lower, before);
  const OrderedCube low = ordered_cube(order, lower, before, sizes, given_root);
  if (upper.empty()) return low;
  const OrderedCube high = ordered_cube(order, upper, before, sizes, given_root);
  return lower_cube_wins(low, high, given_root) ? joined(low, high) : joined(high, low);
}

OrderedNode ordered_node(Rank rank, std::span<const std::uint64_t> sizes, Rank given_root,
                         const NodeOrder& order) {
  return ordered_node_in_cube(rank, {0, order.ranks()}, sizes, given_root, order);
}

OrderedNode ordered_node_in_cube(Rank rank, const JoinOrder::Cube& cube,
                                 std::span<const std::uint64_t> sizes, Rank given_root,
                                 const NodeOrder& order) {
  OrderedNode node;
  node.first = rank;
  node.total = sizes[static_cast<std::size_t>(rank - cube.first)];
  for_each_join(cube, sizes, given_root, order, [&](Rank winner, const OrderedChild& loser) {
    if (winner == rank) {
      node.adopt(loser);
    } else if (loser.rank == rank) {
      node.parent = winner;
      node.round = loser.round;
    }
  });
  return node;
}

std::vector<OrderedNode> ordered_nodes(std::span<const std::uint64_t> sizes, Rank given_root,
                                       const NodeOrder& order) {
  std::vector<OrderedNode> nodes(sizes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].first = static_cast<Rank>(i);
    nodes[i].total = sizes[i];
  }
  for_each_join({0, order.ranks()}, sizes, given_root, order,
                [&](Rank winner, const OrderedChild& loser) {
                  nodes[static_cast<std::size_t>(winner)].adopt(loser);
                  nodes[static_cast<std::size_t>(loser.rank)].parent = winner;
                  nodes[static_cast<std::size_t>(loser.rank)].round = loser.round;
                });
  return nodes;
}

OrderedNode ordered_star(Rank root, std::span<const std::uint64_t> sizes, const NodeOrder& order) {
  const auto place_of = [&](Rank node) -> JoinOrder::Cube {
    return {order.begin(node), order.begin(node + 1)};
  };
  const Rank own = order.node_of(root);
  const JoinOrder::Cube place = place_of(own);
  const auto on_node =
      sizes.subspan(static_cast<std::size_t>(place.first), static_cast<std::size_t>(place.size()));
  OrderedNode node = ordered_node_in_cube(root, place, on_node, root, order);
  const JoinOrder joins(order);
  auto round = static_cast<std::uint32_t>(node.children.size());
  for (Rank other = 0; other < order.nodes(); ++other) {
    if (other == own) continue;
    const JoinOrder::Cube there = place_of(other);
    const OrderedCube cube = ordered_cube(joins, there, joins.within(), sizes, no_rank);
    node.adopt({cube.gather_root, round++, there.first, there.size(), cube.total()});
  }
  return node;
}

// With equal sizes and nodes the lower cube, which is never the smaller one, wins unless the upper
// one holds the root: a cube's gather root is the given root or the cube's first rank.
OrderedNode ordered_node_of_equal_blocks(Rank rank, Rank root, const NodeOrder& of_nodes) {
  if (!of_nodes.of_equal_runs()) {
    const std::vector<std::uint64_t> ones(static_cast<std::size_t>(of_nodes.ranks()), 1);
    return ordered_node(rank, ones, root, of_nodes);
  }
  OrderedNode node;
  node.first = rank;
  node.total = 1;
  const JoinOrder order(of_nodes);
  const auto gather_root = [&](const JoinOrder::Cube& cube) {
    return root >= cube.first && root < cube.end ? root : cube.first;
  };
  for (std::uint32_t iteration = 0; iteration < order.iterations(); ++iteration) {
    const JoinOrder::Cube own = order.cube(rank, iteration);
    const JoinOrder::Cube other = order.neighbour(own, iteration);
    if (other.empty()) continue;
    const Rank neighbour = gather_root(other);
    const bool wins = rank == root || (neighbour != root && own.first < other.first);
    if (!wins) {
      node.parent = neighbour;
      node.round = iteration;
      break;
    }
    node.adopt({neighbour, iteration, other.first, other.size(),
                static_cast<std::uint64_t>(other.size())});
  }
  return node;
}

void OrderedNode::adopt(const OrderedChild& child) {
  children.push_back(child);
  first = std::min(first, child.first);
  count += child.count;
  total += child.total;
}

OrderedConstruction::OrderedConstruction(Rank rank, std::uint64_t own_size, Rank given_root,
                                         const NodeOrder& order)
    : order_(order), rank_(rank), given_root_(given_root), cube_{rank, 0, own_size} {
  node_.first = rank;
  node_.total = own_size;
  enter_iteration();
}

// Finds the first iteration, from this one on, in which the rank has a part.
void OrderedConstruction::enter_iteration() {
  next_ = {};
  for (; iteration_ < order_.iterations(); ++iteration_) {
    place_ = order_.cube(rank_, iteration_);
    const bool fixed = rank_ == place_.end - 1;
    if (!fixed && !gathers_) return;  // it takes no part any more
    neighbour_place_ = order_.neighbour(place_, iteration_);
    if (neighbour_place_.empty()) continue;
    next_ = {fixed ? Kind::exchange : Kind::hear, fixed ? neighbour_place_.end - 1 : place_.end - 1,
             cube_, neighbour_place_, iteration_};
    return;
  }
}

void OrderedConstruction::complete(const OrderedCube& received) {
  if (next_.kind != Kind::tell) neighbour_ = received;
  if (next_.kind == Kind::exchange && cube_.gather_root != rank_) {
    next_ = {Kind::tell, cube_.gather_root, neighbour_, {}, iteration_};
    return;
  }
  join();
}

void OrderedConstruction::join() {
  const bool upper = neighbour_place_.first < place_.first;
  const OrderedCube& lower_cube = upper ? neighbour_ : cube_;
  const OrderedCube& upper_cube = upper ? cube_ : neighbour_;
  const bool wins = lower_cube_wins(lower_cube, upper_cube, given_root_) != upper;
  if (gathers_) {
    if (wins) {
      node_.adopt({neighbour_.gather_root, iteration_, neighbour_place_.first,
                   neighbour_place_.size(), neighbour_.total()});
    } else {
      node_.parent = neighbour_.gather_root;
      node_.round = iteration_;
      gathers_ = false;
    }
  }
  cube_ = wins ? joined(cube_, neighbour_) : joined(neighbour_, cube_);
  ++iteration_;
  enter_iteration();
}

}  // namespace sibyl
