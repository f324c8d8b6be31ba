// Nodes of consecutive ranks are found, everything else counts as one rank per node.
#include "cost/placement.hpp"

#include "communicator/communicator_state.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

TEST(Placement, NodesOfEqualSizeAreFoundWhateverTheLastOneHolds) {
  for (int per_node = 1; per_node <= size_of(); ++per_node) {
    EXPECT_EQ(find_ranks_per_node(MPI_COMM_WORLD, 1000 + rank_in() / per_node), per_node);
  }
}

TEST(Placement, NodesOfUnequalSizeCountAsOneRankEach) {
  if (size_of() < 4) GTEST_SKIP() << "needs two nodes after one of another size";
  EXPECT_EQ(find_ranks_per_node(MPI_COMM_WORLD, rank_in() == 0 ? 1 : 2 + (rank_in() - 1) / 2), 1);
  // The first node is smaller than the last.
  EXPECT_EQ(find_ranks_per_node(MPI_COMM_WORLD, rank_in() < 1 ? 1 : 2), 1);
}

TEST(Placement, RanksDealtOutInTurnCountAsOneRankEach) {
  if (size_of() < 2) GTEST_SKIP() << "needs two hosts";
  EXPECT_EQ(find_ranks_per_node(MPI_COMM_WORLD, rank_in() % 2), 1);
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
