// Nodes are found wherever their ranks lie; those of consecutive ranks are named by their number.
#include "cost/placement.hpp"

#include "communicator/communicator_state.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

TEST(Placement, NodesOfEqualSizeAreFoundWhateverTheLastOneHolds) {
  for (int per_node = 1; per_node <= size_of(); ++per_node) {
    const Placement placement = find_placement(MPI_COMM_WORLD, 1000 + rank_in() / per_node);
    EXPECT_EQ(placement, (Placement{.ranks_per_node = per_node}));
  }
}

TEST(Placement, NodesOfUnequalSizeAreNamedRankByRank) {
  if (size_of() < 4) GTEST_SKIP() << "needs two nodes after one of another size";
  const Placement placement =
      find_placement(MPI_COMM_WORLD, rank_in() == 0 ? 1000 : 2 + (rank_in() - 1) / 2);
  EXPECT_EQ(placement.ranks_per_node, 1);
  EXPECT_EQ(placement.count, 1 + size_of() / 2);
  for (int rank = 0; rank < size_of(); ++rank) {
    EXPECT_EQ(placement.nodes[static_cast<std::size_t>(rank)], (rank + 1) / 2);
  }
}

TEST(Placement, RanksDealtOutInTurnAreFound) {
  if (size_of() < 3) GTEST_SKIP() << "needs a second rank on a host";
  const Placement placement = find_placement(MPI_COMM_WORLD, 5 - rank_in() % 2);
  EXPECT_EQ(placement.count, 2);
  for (int rank = 0; rank < size_of(); ++rank) {
    EXPECT_EQ(placement.nodes[static_cast<std::size_t>(rank)], rank % 2);
  }
}

TEST(Placement, TellsWhoSharesANode) {
  const Placement blocks{.ranks_per_node = 2};
  EXPECT_EQ(ranks_of_own_node(blocks, 4, 5), (std::vector<Rank>{4}));
  EXPECT_EQ(ranks_of_own_node(blocks, 3, 5), (std::vector<Rank>{2, 3}));
  const Placement dealt{.nodes = {0, 1, 0, 1, 0}, .count = 2};
  EXPECT_EQ(ranks_of_own_node(dealt, 2, 5), (std::vector<Rank>{0, 2, 4}));
}

TEST(Placement, TestsNameNodesOfTheirOwn) {
  EXPECT_EQ(node_number("4,4,9"), rank_in() % 3 == 2 ? 9 : 4);
  EXPECT_EQ(node_number(""), host_number());
  EXPECT_EQ(node_number("4;4"), host_number());
}

TEST(Placement, HostNumbersAreEqualOnOneHost) {
  const std::int64_t own = host_number();
  std::int64_t least = 0;
  MPI_Allreduce(&own, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  EXPECT_EQ(least, own);
}

TEST(Placement, ACommunicatorKnowsItFromItsSetUpOn) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int own = 1;
  int sum = 0;
  ASSERT_EQ(SIBYL_Exscan(&own, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  EXPECT_EQ(CommunicatorState::get(comm)->ranks_per_node(), size_of());
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace sibyl::test
