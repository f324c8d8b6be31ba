// All-to-alls of equal blocks on nodes of several ranks: on two levels where start-ups saved are
// worth more than the way through the nodes' memory.
#include "selection/alltoall_on_nodes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sibyl::test {
namespace {

// A node's link of 2.9 GB/s, which one rank fills (platforms/infiniband-35x16.xml).
constexpr Rank ranks_of_a_node = 16;
constexpr Costs infiniband{.alpha = 4e-6,
                           .overhead = 4.1e-7,
                           .beta = 3.5e-10,
                           .gamma = 1e-10,
                           .fold = 2e-10,
                           .fold_together = 3e-10,
                           .overhead_together = 4.1e-7,
                           .beta_together = ranks_of_a_node * 3.5e-10};

Situation on_nodes(Rank nodes, Rank per_node, std::uint64_t bytes) {
  Situation now;
  now.collective = Collective::alltoall;
  now.ranks = nodes * per_node;
  now.ranks_per_node = per_node;
  now.bytes = bytes;
  now.costs = infiniband;
  return now;
}

std::string chosen(const Situation& now, const Settings& settings = {}) {
  const Algorithm* row = choose(settings, now);
  return row == nullptr ? "native" : std::string(row->name);
}

TEST(AlltoallOnNodes, GoesOnTwoLevelsUpToBlocksOfSomeLength) {
  for (const std::uint64_t bytes : {32, 64, 128, 256}) {
    EXPECT_EQ(chosen(on_nodes(8, 16, bytes)), "two-level") << bytes;
  }
  for (const std::uint64_t bytes : {512, 4096, 65536, 1048576}) {
    EXPECT_EQ(chosen(on_nodes(8, 16, bytes)), "native") << bytes;
  }
  Situation in_turn = on_nodes(8, 16, 128);
  in_turn.ranks_per_node = 1;
  in_turn.nodes = 8;
  EXPECT_EQ(chosen(in_turn), "two-level");
}

// Where ranks have more to do with messages than links have with bytes.
TEST(AlltoallOnNodes, GoesByWhatAStartUpIsWorth) {
  Situation slow = on_nodes(35, 4, 1024);
  slow.costs = {.alpha = 50e-6,
                .overhead = 30e-6,
                .beta = 1e-9,
                .gamma = 1e-10,
                .fold = 1e-9,
                .fold_together = 2e-9};
  EXPECT_EQ(chosen(slow), "two-level");
  slow.bytes = 16384;
  EXPECT_EQ(chosen(slow), "native");
}

// A few bytes go in as many rounds as the logarithm of the ranks, of which most stay in a node.
TEST(AlltoallOnNodes, LeavesToTheLibraryWhatRoundsAreAsGoodFor) {
  EXPECT_EQ(chosen(on_nodes(8, 16, 1)), "native");
}

// Two nodes: what is saved between them is given away within them.
TEST(AlltoallOnNodes, SavesNothingOnTwoNodes) {
  for (const std::uint64_t bytes : {8, 128, 4096}) {
    EXPECT_EQ(chosen(on_nodes(2, 16, bytes)), "native") << bytes;
  }
}

TEST(AlltoallOnNodes, IsForNodesOfSeveralRanksWhoseMemoryIsKnown) {
  EXPECT_EQ(chosen(on_nodes(128, 1, 128)), "native");
  EXPECT_EQ(chosen(on_nodes(1, 128, 128)), "native");
  Situation unknown = on_nodes(8, 16, 128);
  unknown.costs.fold_together = 0;
  EXPECT_EQ(chosen(unknown), "native");
  unknown.costs = {};
  EXPECT_EQ(chosen(unknown), "native");
}

TEST(AlltoallOnNodes, MeasuresWhereManyMessagesLeaveANode) {
  const auto wants = [](Rank nodes, Rank per_node, std::uint64_t bytes) {
    Situation now = on_nodes(nodes, per_node, bytes);
    now.costs = {};
    return wants_costs({}, now);
  };
  EXPECT_TRUE(wants(8, 4, 8));
  EXPECT_FALSE(wants(3, 2, 8));
  EXPECT_TRUE(wants(3, 2, 65536));
  EXPECT_FALSE(wants(1, 32, 65536));
}

// What two nodes exchange is counted in one message.
TEST(AlltoallOnNodes, LeavesToTheLibraryWhatCannotBeCounted) {
  Settings asked;
  const auto rows = algorithms(Collective::alltoall);
  asked.algorithm[static_cast<std::size_t>(Collective::alltoall)] =
      static_cast<std::int32_t>(find_algorithm(Collective::alltoall, "two-level") - rows.data());
  EXPECT_EQ(chosen(on_nodes(2, 32, 2000000), asked), "two-level");
  EXPECT_EQ(chosen(on_nodes(2, 32, 2100000), asked), "native");
}

}  // namespace
}  // namespace sibyl::test
