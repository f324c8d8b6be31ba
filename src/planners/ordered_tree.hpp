// Ordered trees for gather and scatter of blocks of any sizes, and their construction by messages.
//
// Ranks join in ceil(log2 p) iterations: in iteration k two neighbouring cubes of 2^k consecutive
// ranks (the last one may be smaller) become one. Each cube has a *gather root*, which can have
// collected the cube's data; the one of the joined cube is that of the half whose gather takes
// longer, so that nobody waits for the shorter half, and a root that is given is never given up.
// The other sends what its cube holds, consecutive blocks in rank order, in one message.
//
// Where several ranks share a node, those of a node join first and nodes afterwards: one message
// leaves a node, whatever the number of its ranks. Where a node's ranks are no run, the tree is one
// over places (node_order.hpp): whatever is called a rank below is then a place, and whoever sends
// messages along the tree looks up whose it is.
//
// Source: J. L. Traeff, Practical, Linear-time, Fully Distributed Algorithms for Irregular Gather
// and
//   Scatter, EuroMPI 2017, lemmas 2.1 (free root), 2.2 (given root), 2.3 (construction),
//   theorem 2.4.
//
// Sizes are in any unit that all ranks share; their sum must fit 64 bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planners/node_order.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// Which cubes of consecutive ranks join in which iteration: a pure matter of arithmetic.
class JoinOrder {
 public:
  struct Cube {
    Rank first = 0;
    Rank end = 0;
    Rank size() const { return end - first; }
    bool empty() const { return first == end; }
  };

  explicit JoinOrder(const NodeOrder& order);
  JoinOrder(Rank ranks, Rank ranks_per_node) : JoinOrder(NodeOrder(ranks, ranks_per_node)) {}
  // ceil(log2 p), or with k ranks at most on each of n nodes ceil(log2 k) + ceil(log2 n).
  std::uint32_t iterations() const { return within_ + between_; }
  // Those within nodes, which come first.
  std::uint32_t within() const { return within_; }
  // The cube that holds `rank` before `iteration`.
  Cube cube(Rank rank, std::uint32_t iteration) const;
  // The cube that joins it in `iteration`; empty where none does.
  Cube neighbour(const Cube& cube, std::uint32_t iteration) const;

 private:
  NodeOrder order_;
  std::uint32_t within_ = 0;
  std::uint32_t between_ = 0;
};

// What a cube tells its neighbour: the three numbers of a construction message.
struct OrderedCube {
  Rank gather_root = 0;
  std::uint64_t others = 0;  // data of the cube without its gather root's block: its gather time
  std::uint64_t own = 0;     // the gather root's block
  std::uint64_t total() const { return others + own; }
};

// Whether the lower of two neighbours keeps its gather root. Equal times: the smaller amount of
// data is sent; equal amounts: the lower cube stays. Pass no_rank where no root is given.
bool lower_cube_wins(const OrderedCube& lower, const OrderedCube& upper, Rank given_root);

// What the cube at `place` would tell in `iteration`, where all sizes are known. Time: O(its size).
OrderedCube ordered_cube(const JoinOrder& order, const JoinOrder::Cube& place,
                         std::uint32_t iteration, std::span<const std::uint64_t> sizes,
                         Rank given_root);

// A subtree as its parent sees it.
struct OrderedChild {
  Rank rank = 0;
  std::uint32_t round = 0;  // of its message, counted from 0
  Rank first = 0;           // its cube: the consecutive ranks first .. first + count - 1
  Rank count = 0;
  std::uint64_t total = 0;  // data in its cube
};

// One rank's place in the tree.
struct OrderedNode {
  Rank parent = no_rank;    // no_rank at the root
  std::uint32_t round = 0;  // of the message to the parent
  Rank first = 0;           // the cube that it gathers, itself included
  Rank count = 1;
  std::uint64_t total = 0;
  std::vector<OrderedChild> children;  // in the order of their rounds

  void adopt(const OrderedChild& child);
};

// The place of `rank` where the sizes of all blocks are known to it: no messages. Time and space:
// O(p).
OrderedNode ordered_node(Rank rank, std::span<const std::uint64_t> sizes, Rank given_root,
                         const NodeOrder& order);
inline OrderedNode ordered_node(Rank rank, std::span<const std::uint64_t> sizes, Rank given_root,
                                Rank ranks_per_node = 1) {
  return ordered_node(rank, sizes, given_root,
                      NodeOrder(static_cast<Rank>(sizes.size()), ranks_per_node));
}

// Its place in the tree of one cube of the order, of whose ranks `sizes` are. O(size of the cube).
OrderedNode ordered_node_in_cube(Rank rank, const JoinOrder::Cube& cube,
                                 std::span<const std::uint64_t> sizes, Rank given_root,
                                 const NodeOrder& order);

// The places of all ranks in that tree, in rank order. Time: O(p).
std::vector<OrderedNode> ordered_nodes(std::span<const std::uint64_t> sizes, Rank given_root,
                                       const NodeOrder& order);

// The same for blocks of size 1 each, in O(log p) where nodes are equal runs of ranks. Requires a
// root.
OrderedNode ordered_node_of_equal_blocks(Rank rank, Rank root, const NodeOrder& order);
inline OrderedNode ordered_node_of_equal_blocks(Rank rank, Rank ranks, Rank root,
                                                Rank ranks_per_node = 1) {
  return ordered_node_of_equal_blocks(rank, root, NodeOrder(ranks, ranks_per_node));
}

// The place of a root that reaches each other node by a message of its own, and the ranks of its
// own node by the tree. Whoever gets the message of a node is the root of the tree of its cube.
// Time and space: O(p).
OrderedNode ordered_star(Rank root, std::span<const std::uint64_t> sizes, const NodeOrder& order);
inline OrderedNode ordered_star(Rank root, std::span<const std::uint64_t> sizes,
                                Rank ranks_per_node) {
  return ordered_star(root, sizes, NodeOrder(static_cast<Rank>(sizes.size()), ranks_per_node));
}

// The construction at a rank that knows its own size only: a state machine that is told what came
// and says what to do next. At most 2 ceil(log2 p) - 1 messages depend on each other.
class OrderedConstruction {
 public:
  enum class Kind : std::uint8_t {
    exchange,  // send `cube` to `peer` and receive its cube
    tell,      // send `cube` to `peer`, which waits for it
    hear,      // receive a cube from `peer`
    done,
  };
  struct Next {
    Kind kind = Kind::done;
    Rank peer = no_rank;
    OrderedCube cube;           // what is sent
    JoinOrder::Cube neighbour;  // whose cube an exchange or a hearing brings
    std::uint32_t iteration = 0;
  };

  OrderedConstruction(Rank rank, std::uint64_t own_size, Rank given_root, const NodeOrder& order);
  OrderedConstruction(Rank rank, Rank ranks, std::uint64_t own_size, Rank given_root,
                      Rank ranks_per_node = 1)
      : OrderedConstruction(rank, own_size, given_root, NodeOrder(ranks, ranks_per_node)) {}
  const Next& next() const { return next_; }
  // The step that next() named is done; `received` is what came, where something came.
  void complete(const OrderedCube& received = {});
  // Valid once next() says done.
  const OrderedNode& node() const { return node_; }

 private:
  void enter_iteration();
  void join();

  JoinOrder order_;
  Rank rank_;
  Rank given_root_;
  std::uint32_t iteration_ = 0;
  bool gathers_ = true;              // this rank is the gather root of its cube
  JoinOrder::Cube place_;            // of this iteration
  JoinOrder::Cube neighbour_place_;  // likewise
  OrderedCube cube_;                 // known to fixed and gather roots
  OrderedCube neighbour_;
  Next next_;
  OrderedNode node_;
};

}  // namespace sibyl
