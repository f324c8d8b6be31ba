// What irregular gather and scatter really run along, proved by the verifier: trees that were built
// for other sizes, by the construction's messages or for equal blocks; and a scatter's, of which
// each rank knows only the cube that a message named.
//
// SIBYL_TEST_LONG proves every root; otherwise roots are sampled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "planners/irregular_sizes.hpp"
#include "planners/ordered_programs.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

using Nodes = std::vector<OrderedNode>;

constexpr Rank most_irregular_ranks = 70;

bool all_roots() { return std::getenv("SIBYL_TEST_LONG") != nullptr; }

// Many hold nothing, some a lot.
Sizes some_sizes(Rank ranks, std::mt19937_64& random) {
  Sizes sizes(static_cast<std::size_t>(ranks));
  for (std::uint64_t& size : sizes) {
    size = random() % 3 == 0 ? 0 : random() % (random() % 4 == 0 ? 100000 : 50);
  }
  return sizes;
}

void prove(Collective collective, const PlanRequest& request, const Nodes& nodes,
           const std::string& what) {
  const VerifyResult result = verify(plan_along(collective, request, nodes));
  ASSERT_TRUE(result.ok) << what << ", " << request.ranks << " ranks, root " << request.root
                         << ", direct from " << request.direct_from << ", "
                         << request.ranks_per_node << " a node: " << result.problem;
}

// Calls `run` with requests of all numbers of ranks.
template <class Run>
void for_requests(Run run) {
  std::mt19937_64 random(20170917);
  for (Rank ranks = 1; ranks <= most_irregular_ranks; ++ranks) {
    for (Rank root = 0; root < ranks; ++root) {
      if (!all_roots() && root != 0 && root != ranks - 1 && random() % 8 != 0) continue;
      for (const std::uint64_t direct_from : {std::uint64_t{1}, std::uint64_t{40}, UINT64_MAX}) {
        const auto per_node = static_cast<Rank>(1 + random() % static_cast<std::uint64_t>(ranks));
        const Sizes sizes = some_sizes(ranks, random);
        run(irregular_request(sizes, root, direct_from, per_node), random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(IrregularRuns, GatherAlongATreeThatWasBuiltForOtherSizes) {
  for_requests([](const PlanRequest& request, std::mt19937_64& random) {
    const Sizes then = some_sizes(request.ranks, random);
    Nodes stale;
    Nodes of_equal_blocks;
    for (Rank rank = 0; rank < request.ranks; ++rank) {
      stale.push_back(ordered_node(rank, then, request.root, request.ranks_per_node));
      of_equal_blocks.push_back(
          ordered_node_of_equal_blocks(rank, request.ranks, request.root, request.ranks_per_node));
    }
    prove(Collective::gatherv, request, stale, "built for other sizes");
    prove(Collective::gatherv, request, of_equal_blocks, "built for equal blocks");
  });
}

// As executor/tree/irregular_scatter.cpp does: a rank that gets the message of a cube works out its
// place in it from the sizes of that cube.
class ScatterTree {
 public:
  ScatterTree(const Sizes& sizes, Rank per_node)
      : sizes_(sizes), per_node_(per_node), nodes_(sizes.size()) {}

  void grow(Rank rank, const OrderedNode& place, Rank parent, std::uint32_t round) {
    OrderedNode& node = nodes_[static_cast<std::size_t>(rank)];
    node = place;
    node.parent = parent;
    node.round = round;
    for (const OrderedChild& child : place.children) {
      const auto cube = std::span(sizes_).subspan(static_cast<std::size_t>(child.first),
                                                  static_cast<std::size_t>(child.count));
      OrderedNode next = ordered_node(child.rank - child.first, cube, no_rank, per_node_);
      ASSERT_EQ(next.parent, no_rank) << "who got a cube's message is not its root";
      next.first += child.first;
      for (OrderedChild& grandchild : next.children) {
        grandchild.rank += child.first;
        grandchild.first += child.first;
      }
      grow(child.rank, next, rank, child.round);
    }
  }
  const Nodes& nodes() const { return nodes_; }

 private:
  const Sizes& sizes_;
  Rank per_node_;
  Nodes nodes_;
};

// Rounds are labels: those of messages between nodes come before what the receivers send on.
OrderedNode star_of(const PlanRequest& request, const Sizes& sizes) {
  OrderedNode node = ordered_star(request.root, sizes, request.ranks_per_node);
  const Rank own = request.root / request.ranks_per_node;
  for (OrderedChild& child : node.children) {
    if (child.rank / request.ranks_per_node != own) child.round += tree_rounds(request);
  }
  return node;
}

TEST(IrregularRuns, ScatterAlongWhatEachRankLearnsFromItsMessage) {
  for_requests([](const PlanRequest& request, std::mt19937_64&) {
    const TreeBlocks blocks(request);
    const Sizes in_tree(blocks.sizes().begin(), blocks.sizes().end());
    const Rank per_node = request.ranks_per_node;
    ScatterTree tree(in_tree, per_node);
    tree.grow(request.root, ordered_node(request.root, in_tree, request.root, per_node), no_rank,
              0);
    prove(Collective::scatterv, request, tree.nodes(), "a tree");
    ScatterTree star(in_tree, per_node);
    star.grow(request.root, star_of(request, in_tree), no_rank, 0);
    prove(Collective::scatterv, request, star.nodes(), "a star");
  });
}

// A tree that does not hold together is found.
TEST(IrregularRuns, ATreeWhoseRanksDisagreeIsRefused) {
  const Sizes sizes{5, 5, 5, 5};
  const PlanRequest request = irregular_request(sizes, 0, UINT64_MAX, 1);
  Nodes nodes;
  for (Rank rank = 0; rank < 4; ++rank) {
    nodes.push_back(ordered_node_of_equal_blocks(rank, 4, rank == 3 ? 3 : 0));
  }
  EXPECT_FALSE(verify(plan_along(Collective::gatherv, request, nodes)).ok);
}

}  // namespace
}  // namespace sibyl
