// With SIBYL_NODE_WINDOW: who is there goes on while another rank is late, as by MPI's messages
// alone. Here the late one waits for it, so that a call that holds it up hangs.
#include <algorithm>

#include "collectives/blocking/irregular_blocks.hpp"
#include "cost/placement.hpp"

namespace sibyl::test {
namespace {

class IrregularWindowProgress : public IrregularBlocksOverMpi {
 protected:
  // Large enough to wait for their receivers, by the window and by MPI.
  void call_with_late(Served& served, Rank late, Rank early, const Layout& own) {
    ScatteredBlocks blocks;
    for (int r = 0; r < size_of(); ++r) {
      blocks.places.push_back(blocks.elements);
      blocks.counts.push_back(30000 / size_of());
      blocks.elements += blocks.counts.back();
    }
    const Layouts layouts;
    int word = 0;
    if (rank_in() == late) {
      MPI_Recv(&word, 1, MPI_INT, early, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    check(blocks, layouts.all().front(), own, 0, false, run_seed(), served.get());
    if (rank_in() == early) MPI_Send(&word, 1, MPI_INT, late, 7, MPI_COMM_WORLD);
  }
  // In a first call nobody is late: the window is made, and a tree is built.
  void call_twice(Served& served, const Algorithm& row, Rank late, Rank early, const Layout& own) {
    settings(served, &row, 4096, 1U << 20);
    call_with_late(served, no_rank, no_rank, own);
    MPI_Barrier(MPI_COMM_WORLD);
    call_with_late(served, late, early, own);
  }
};

TEST_P(IrregularWindowProgress, ARankOfAnotherNodeHoldsNobodyOfThisOneUp) {
  SIBYL_TRACE_SEED();
  if (up()) GTEST_SKIP() << "a gather's ranks wait for their own messages alone";
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  const auto own = ranks_of_own_node(served.state().placement(), 0, size_of());
  Rank elsewhere = 1;
  while (std::ranges::find(own, elsewhere) != own.end()) ++elsewhere;
  if (own.size() < 2 || elsewhere >= size_of()) GTEST_SKIP() << "no such nodes";
  for (const Algorithm& row : algorithms(GetParam())) {
    SCOPED_TRACE(row.name);
    call_twice(served, row, elsewhere, own[1], layouts.all().front());
    if (HasFatalFailure()) return;
  }
}

// The window names a block of elements with gaps, which comes by MPI.
TEST_P(IrregularWindowProgress, ABlockByMpiIsTakenWhileAnotherRankIsLate) {
  SIBYL_TRACE_SEED();
  if (size_of() < 3) GTEST_SKIP() << "no third rank";
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  for (const Algorithm& row : algorithms(GetParam())) {
    if (!row.linear) continue;  // whose ranks are leaves
    SCOPED_TRACE(row.name);
    call_twice(served, row, 1, 2, layouts.all()[5]);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, IrregularWindowProgress,
                         testing::Values(Collective::gatherv, Collective::scatterv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// It makes the window with the others in its next call, which is another collective.
TEST(IrregularWindowMaking, WaitsForWhoHasRefusedTheFirstCall) {
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  Settings settings = state->settings();
  for (const Collective collective : {Collective::bcast, Collective::allreduce}) {
    settings.algorithm[static_cast<std::size_t>(collective)] = 0;
  }
  state->replace_settings(settings);
  state->replace_costs({});  // finding them has all meet, too
  MPI_Comm_set_errhandler(comm.get(), MPI_ERRORS_RETURN);
  const bool refuses = rank_in() == size_of() - 1 && size_of() > 1;
  int word = 17;
  const int said = SIBYL_Bcast(&word, refuses ? -1 : 1, MPI_INT, 0, comm.get());
  EXPECT_EQ(said == MPI_SUCCESS, !refuses);
  for (int call = 0; call < 3; ++call) {
    int sum = 0;
    EXPECT_EQ(SIBYL_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
    EXPECT_EQ(sum, 17 * size_of());
  }
}

}  // namespace
}  // namespace sibyl::test
