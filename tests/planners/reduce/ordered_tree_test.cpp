// Reduce over the ordered tree: proved with its order where ranks share nodes, whatever the root;
// and one vector leaves a node.
#include <gtest/gtest.h>

#include <vector>

#include "planners/ceil_log2.hpp"
#include "planners/program_text.hpp"
#include "planners/prove.hpp"

namespace sibyl {
namespace {

const Algorithm& ordered_tree() { return *find_algorithm(Collective::reduce, "ordered-tree"); }

TEST(ReduceOrderedTree, IsProvedInOrderForEveryRootWhereRanksShareNodes) {
  ProofStorage storage;
  for (Rank ranks = 1; ranks <= 33; ++ranks) {
    for (const Rank per_node : {1, 2, 3, 4, 6, 16}) {
      for (Rank root = 0; root < ranks; ++root) {
        const PlanRequest request{.ranks = ranks,
                                  .root = root,
                                  .in_place = (root + per_node) % 2 == 0,
                                  .ranks_per_node = per_node};
        const VerifyResult result = verify_algorithm(ordered_tree(), request, storage);
        ASSERT_TRUE(result.ok) << ranks << " ranks, " << per_node << " a node, root " << root
                               << ": " << result.problem;
        ASSERT_TRUE(ordered_tree().describe(request).keeps_order);
        ASSERT_EQ(result.messages, static_cast<std::uint64_t>(ranks - 1));
      }
    }
  }
}

TEST(ReduceOrderedTree, TakesTheRoundsOfANodeAndThoseBetweenNodes) {
  const PlanRequest request{.ranks = 48, .ranks_per_node = 6};
  EXPECT_EQ(ordered_tree().describe(request).rounds, ceil_log2(6) + ceil_log2(8));
}

TEST(ReduceOrderedTree, LetsOneVectorLeaveANode) {
  for (const Rank per_node : {3, 4, 6}) {
    for (Rank ranks = per_node + 1; ranks <= 40; ++ranks) {
      for (const Rank root : {Rank{0}, ranks / 2, ranks - 1}) {
        std::vector<int> leaving(static_cast<std::size_t>(ranks / per_node + 1), 0);
        for (Rank rank = 0; rank < ranks; ++rank) {
          const Program program =
              program_of(Collective::reduce, "ordered-tree",
                         {.ranks = ranks, .root = root, .ranks_per_node = per_node}, rank);
          for (const Step& step : program.steps) {
            const bool leaves =
                step.kind == StepKind::send && step.peer / per_node != rank / per_node;
            if (leaves) ++leaving[static_cast<std::size_t>(rank / per_node)];
          }
        }
        for (std::size_t node = 0; node < leaving.size(); ++node) {
          const bool has_ranks = static_cast<Rank>(node) * per_node < ranks;
          const bool has_root = root / per_node == static_cast<Rank>(node);
          ASSERT_EQ(leaving[node], has_ranks && !has_root ? 1 : 0)
              << ranks << " ranks, root " << root;
        }
      }
    }
  }
}

// Node 0 has ranks 0 to 2, node 1 ranks 3 and 4; the root is in the second.
TEST(ReduceOrderedTree, OfFiveRanksOnTwoNodesIsAsWorkedOutByHand) {
  const auto text = [](Rank rank) {
    return text_of(program_of(Collective::reduce, "ordered-tree",
                              {.ranks = 5, .root = 4, .ranks_per_node = 3}, rank));
  };
  EXPECT_EQ(text(0),
            (Lines{"0: receive scratch[0] from 1", "0: scratch[0] := send[0] (+) scratch[0]",
                   "1: receive scratch[1] from 2", "1: scratch[1] := scratch[0] (+) scratch[1]",
                   "2: send scratch[1] to 4"}));
  EXPECT_EQ(text(4), (Lines{"0: receive[0] := send[0]", "0: receive[0] := from 3 (+) receive[0]",
                            "2: receive[0] := from 0 (+) receive[0]"}));
}

}  // namespace
}  // namespace sibyl
