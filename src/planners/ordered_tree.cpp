// Joins cubes; see ordered_tree.hpp.
//
// A cube's *fixed root* is its last rank, which every rank can compute. The fixed roots of two
// neighbours exchange what they know of their cubes; each tells its gather root where that is
// another rank. Whoever knows both cubes knows the joined one.
#include "planners/ordered_tree.hpp"

#include <algorithm>

namespace sibyl {
namespace {

// The cube of `iteration` that begins at `first` ends before this rank.
Rank cube_end(Rank first, std::uint32_t iteration, Rank ranks) {
  const std::int64_t end = std::int64_t{first} + (std::int64_t{1} << iteration);
  return static_cast<Rank>(std::min<std::int64_t>(end, ranks));
}

bool joins(std::uint32_t iteration, Rank ranks) { return (std::int64_t{1} << iteration) < ranks; }

OrderedCube joined(const OrderedCube& winner, const OrderedCube& loser) {
  return {winner.gather_root, winner.others + loser.total(), winner.own};
}

}  // namespace

bool lower_cube_wins(const OrderedCube& lower, const OrderedCube& upper, Rank given_root) {
  if (lower.gather_root == given_root) return true;
  if (upper.gather_root == given_root) return false;
  if (lower.others != upper.others) return lower.others > upper.others;
  return lower.own >= upper.own;
}

OrderedNode ordered_node(Rank rank, std::span<const std::uint64_t> sizes, Rank given_root) {
  OrderedNode node;
  const auto ranks = static_cast<Rank>(sizes.size());
  std::vector<OrderedCube> cubes;
  cubes.reserve(sizes.size());
  for (Rank r = 0; r < ranks; ++r) cubes.push_back({r, 0, sizes[static_cast<std::size_t>(r)]});
  node.first = rank;
  node.total = cubes[static_cast<std::size_t>(rank)].own;
  for (std::uint32_t iteration = 0; joins(iteration, ranks); ++iteration) {
    const std::size_t count = cubes.size();
    for (std::size_t i = 0; i < count; i += 2) {
      if (i + 1 == count) {
        cubes[i / 2] = cubes[i];
        continue;
      }
      const OrderedCube lower = cubes[i];
      const OrderedCube upper = cubes[i + 1];
      const bool lower_wins = lower_cube_wins(lower, upper, given_root);
      const OrderedCube& winner = lower_wins ? lower : upper;
      const OrderedCube& loser = lower_wins ? upper : lower;
      cubes[i / 2] = joined(winner, loser);
      const auto first = static_cast<Rank>(i << iteration);
      const auto middle = static_cast<Rank>((i + 1) << iteration);
      const Rank end = cube_end(middle, iteration, ranks);
      if (winner.gather_root == rank) {
        node.adopt({loser.gather_root, iteration, lower_wins ? middle : first,
                    lower_wins ? end - middle : middle - first, loser.total()});
      } else if (loser.gather_root == rank) {
        node.parent = winner.gather_root;
        node.round = iteration;
      }
    }
    cubes.resize((count + 1) / 2);
  }
  return node;
}

// With equal sizes the lower cube wins unless the upper one holds the root: a cube's gather root is
// the given root or the cube's first rank.
OrderedNode ordered_node_of_equal_blocks(Rank rank, Rank ranks, Rank root) {
  OrderedNode node;
  node.first = rank;
  node.total = 1;
  const auto gather_root = [&](Rank first, Rank end) {
    return root >= first && root < end ? root : first;
  };
  for (std::uint32_t iteration = 0; joins(iteration, ranks); ++iteration) {
    const Rank size = Rank{1} << iteration;
    const Rank first = rank & ~(2 * size - 1);
    const Rank middle = first + size;
    if (middle >= ranks) continue;
    const Rank end = cube_end(middle, iteration, ranks);
    const Rank lower = gather_root(first, middle);
    const Rank upper = gather_root(middle, end);
    const bool lower_wins = upper != root;
    if (rank == (lower_wins ? upper : lower)) {
      node.parent = lower_wins ? lower : upper;
      node.round = iteration;
      break;
    }
    if (lower_wins) {
      node.adopt(
          {upper, iteration, middle, end - middle, static_cast<std::uint64_t>(end - middle)});
    } else {
      node.adopt({lower, iteration, first, size, static_cast<std::uint64_t>(size)});
    }
  }
  return node;
}

void OrderedNode::adopt(const OrderedChild& child) {
  children.push_back(child);
  first = std::min(first, child.first);
  count += child.count;
  total += child.total;
}

OrderedConstruction::OrderedConstruction(Rank rank, Rank ranks, std::uint64_t own_size,
                                         Rank given_root)
    : rank_(rank), ranks_(ranks), given_root_(given_root), cube_{rank, 0, own_size} {
  node_.first = rank;
  node_.total = own_size;
  enter_iteration();
}

// Finds the first iteration, from this one on, in which the rank has a part.
void OrderedConstruction::enter_iteration() {
  next_ = {};
  for (; joins(iteration_, ranks_); ++iteration_) {
    const Rank first = cube_first();
    const Rank end = cube_end(first, iteration_, ranks_);
    const bool fixed = rank_ == end - 1;
    if (!fixed && !gathers_) return;  // it takes no part any more
    const Rank size = Rank{1} << iteration_;
    const bool upper = (first & size) != 0;
    if (!upper && end >= ranks_) continue;  // no neighbour in this iteration
    if (!fixed) {
      next_ = {Kind::hear, end - 1, {}};
      return;
    }
    const Rank neighbour_first = upper ? first - size : end;
    next_ = {Kind::exchange, cube_end(neighbour_first, iteration_, ranks_) - 1, cube_};
    return;
  }
}

void OrderedConstruction::complete(const OrderedCube& received) {
  if (next_.kind != Kind::tell) neighbour_ = received;
  if (next_.kind == Kind::exchange && cube_.gather_root != rank_) {
    next_ = {Kind::tell, cube_.gather_root, neighbour_};
    return;
  }
  join();
}

void OrderedConstruction::join() {
  const Rank first = cube_first();
  const Rank size = Rank{1} << iteration_;
  const bool upper = (first & size) != 0;
  const OrderedCube& lower_cube = upper ? neighbour_ : cube_;
  const OrderedCube& upper_cube = upper ? cube_ : neighbour_;
  const bool wins = lower_cube_wins(lower_cube, upper_cube, given_root_) != upper;
  const Rank lower_first = upper ? first - size : first;
  const Rank middle = lower_first + size;
  const Rank end = cube_end(middle, iteration_, ranks_);
  if (gathers_) {
    if (wins) {
      node_.adopt({neighbour_.gather_root, iteration_, upper ? lower_first : middle,
                   upper ? size : end - middle, neighbour_.total()});
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
