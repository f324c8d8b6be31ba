// With SIBYL_NODE_WINDOW the messages of gatherv, scatterv and persistent requests within a node go
// through its memory: they are counted there. Without, there is nothing to see.
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "collectives/blocking/irregular_blocks.hpp"
#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"
#include "cost/placement.hpp"

namespace sibyl::test {
namespace {

const PersistentRequest& inside(PersistentTrial& trial) {
  return *reinterpret_cast<const PersistentRequest*>(*trial.request());
}

std::uint64_t summed(std::uint64_t own, MPI_Comm comm) {
  std::uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return sum;
}

bool are_windows() { return Process::get()->environment().node_window != 0; }

std::size_t neighbours(const CommunicatorState& state) {
  return ranks_of_own_node(state.placement(), state.rank(), state.size()).size() - 1;
}

class IrregularBlocksInAWindow : public IrregularBlocksOverMpi {
 protected:
  std::uint64_t filled(Served& served) {
    const NodeWindow* const window = served.state().node_window();
    return window == nullptr ? 0 : window->slots_filled();
  }
};

// Along the tree a node's ranks have a message each but for one, and linear all that are with the
// root. Blocks of all sizes go direct, or none.
TEST_P(IrregularBlocksInAWindow, GoThroughIt) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 70);
  const Layouts layouts;
  const Layout& plain = layouts.all().front();
  Served served(GetParam(), nullptr);
  CommunicatorState& state = served.state();
  if (!are_windows()) GTEST_SKIP() << "there are none";
  const int size = size_of();
  const Placement& placement = state.placement();
  for (const Algorithm& row : algorithms(GetParam())) {
    for (const std::uint32_t direct_from : {0U, 1U << 30}) {
      for (int root = 0; root < size; ++root) {
        SCOPED_TRACE(std::string(row.name) + ", direct from " + std::to_string(direct_from) +
                     ", root " + std::to_string(root));
        settings(served, &row, direct_from, 1);
        ScatteredBlocks blocks;
        blocks.elements = 40 * size;
        blocks.counts.assign(static_cast<std::size_t>(size), 40);
        for (int r = 0; r < size; ++r) blocks.places.push_back(40 * r);
        const std::uint64_t before = filled(served);
        check(blocks, plain, plain, root, false, random(), served.get());
        const std::uint64_t slots = summed(filled(served) - before, served.get());
        const auto with_root = ranks_of_own_node(placement, root, size).size() - 1;
        const auto nodes = static_cast<std::size_t>(placement.nodes.empty()
                                                        ? (size + placement.ranks_per_node - 1) /
                                                              placement.ranks_per_node
                                                        : placement.count);
        const std::size_t direct = direct_from == 0 && !row.linear ? with_root : 0;
        // A scatter's root sends blocks of some hundred bytes to each rank itself.
        const bool straight = row.linear || (!up() && direct_from != 0);
        const std::size_t least = straight ? with_root : static_cast<std::size_t>(size) - nodes;
        EXPECT_GE(slots, least + direct);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// All that the root's node sends it comes through the window: none of it fits at once.
TEST_P(IrregularBlocksInAWindow, MovesBlocksThatAreLargerThanTheWindow) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 71);
  const Layouts layouts;
  Served served(GetParam(), nullptr);
  const int size = size_of();
  for (const Algorithm& row : algorithms(GetParam())) {
    for (const std::uint32_t direct_from : {4096U, 1U << 30}) {
      SCOPED_TRACE(std::string(row.name) + ", direct from " + std::to_string(direct_from));
      settings(served, &row, direct_from, 3);
      for (int call = 0; call < 3; ++call) {
        ScatteredBlocks blocks;
        for (int r = 0; r < size; ++r) {
          blocks.places.push_back(blocks.elements);
          blocks.counts.push_back(r % 3 == call ? 0 : 40000 + r);  // 16 bytes each
          blocks.elements += blocks.counts.back();
        }
        const int late = call % size;
        const int root = size - 1 - late;
        if (rank_in() == late) usleep(3000);
        check(blocks, layouts.all().front(), layouts.all().front(), root,
              call == 1 && rank_in() == root, random(), served.get());
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, IrregularBlocksInAWindow,
                         testing::Values(Collective::gatherv, Collective::scatterv),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(PersistentInAWindow, EveryRequestHasItsOwnAndSendsThroughIt) {
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  if (!are_windows()) GTEST_SKIP() << "there are none";
  for (const auto& [collective, algorithm] :
       std::vector<std::pair<Collective, std::string>>{{Collective::gather, "linear"},
                                                       {Collective::gather, "binomial"},
                                                       {Collective::scatter, "binomial"},
                                                       {Collective::gatherv, "linear"},
                                                       {Collective::scatterv, "linear"},
                                                       {Collective::reduce, "binomial"},
                                                       {Collective::allreduce, "ring"},
                                                       {Collective::bcast, "linear"},
                                                       {Collective::allgather, "ring"}}) {
    PersistentTrial trial({collective, algorithm, false, true, 0, 50}, comm.get());
    ASSERT_TRUE(trial.made());
    const NodeWindow* const window = inside(trial).window();
    EXPECT_EQ(window != nullptr, neighbours(*state) != 0) << name_of(collective);
    for (std::uint64_t k = 0; k < 3; ++k) {
      const std::uint64_t before = window == nullptr ? 0 : window->slots_filled();
      trial.start(k);
      if (rank_in() == static_cast<int>(k) % size_of()) usleep(2000);
      trial.arrive();
      trial.wait();
      trial.check();
      const std::uint64_t own = window == nullptr ? 0 : window->slots_filled() - before;
      // Rings and trees may have their neighbours on other nodes.
      const std::size_t with_root =
          ranks_of_own_node(state->placement(), 0, state->size()).size() - 1;
      const bool all =
          algorithm == "linear" || with_root + 1 == static_cast<std::size_t>(size_of());
      EXPECT_GE(summed(own, comm.get()), all ? with_root : 0) << name_of(collective);
    }
  }
}

// As many bytes as the communicator's own, together; who comes then goes by MPI.
TEST(PersistentInAWindow, ThereAreNoMoreWindowsThanTheSettingAllows) {
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  if (!are_windows()) GTEST_SKIP() << "there are none";
  const PersistentCase now{Collective::allgather, "ring", false, true, 0, 5000};
  for (int turn = 0; turn < 2; ++turn) {
    std::deque<PersistentTrial> trials;
    for (int i = 0; i < 30; ++i) trials.emplace_back(now, comm.get());
    EXPECT_EQ(inside(trials.front()).window() != nullptr, neighbours(*state) != 0);
    EXPECT_EQ(inside(trials.back()).window(), nullptr);
    for (std::size_t i = 0; i < trials.size(); ++i) trials[i].start(i);
    for (PersistentTrial& trial : trials) trial.arrive();
    for (PersistentTrial& trial : trials) trial.wait();
    for (const PersistentTrial& trial : trials) trial.check();
  }
}

// Blocking calls of the same communicator, whose messages go through its own window, meanwhile.
TEST(PersistentInAWindow, CallsThatBlockGoOnBetweenItsStages) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 72);
  Random own(run_seed() + 73 + static_cast<std::uint64_t>(rank_in()));
  const Duplicate comm;
  CommunicatorState* const state = CommunicatorState::get(comm.get());
  ASSERT_TRUE(state->serves(comm.get(), true));
  Settings settings = state->settings();
  for (const Collective collective :
       {Collective::gatherv, Collective::scatterv, Collective::allreduce}) {
    const auto rows = algorithms(collective);
    settings.algorithm[static_cast<std::size_t>(collective)] =
        static_cast<std::int32_t>(rows.size() - 1);
  }
  state->replace_settings(settings);
  const auto size = static_cast<std::size_t>(size_of());
  const auto block = [&] {
    const int rank = rank_in();
    std::vector<int> counts(size, 1);
    std::vector<int> places(size);
    std::iota(places.begin(), places.end(), 0);
    std::vector<int> all(size, -1);
    int back = -1;
    EXPECT_EQ(SIBYL_Gatherv(&rank, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, 0,
                            comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, &back, 1, MPI_INT,
                             0, comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(back, rank);
    int sum = 0;
    EXPECT_EQ(SIBYL_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
    EXPECT_EQ(sum, static_cast<int>(size * (size - 1) / 2));
  };
  for (int i = 0; i < cases(12); ++i) {
    std::deque<PersistentTrial> trials;
    for (int k = 0; k < 3; ++k) {
      trials.emplace_back(any_persistent_case(random, size_of()), comm.get());
    }
    for (int iteration = 0; iteration < 3; ++iteration) {
      const std::uint64_t seed = random();
      for (PersistentTrial& trial : trials) trial.start(seed);
      block();
      for (PersistentTrial& trial : trials) trial.arrive();
      compute(own, 300);
      block();
      for (std::size_t k = trials.size(); k-- > 0;) trials[k].wait();
      for (const PersistentTrial& trial : trials) trial.check();
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

// What does not fit into the window is moved while its sender waits in a call of MPI's.
TEST(PersistentInAWindow, TheThreadSendsWhatDidNotFit) {
  if (size_of() < 2 || thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  const Duplicate comm;
  PersistentTrial trial({Collective::bcast, "linear", false, true, 0, 300000}, comm.get());
  for (std::uint64_t k = 0; k < 2; ++k) {
    trial.start(k);
    trial.arrive();
    if (rank_in() == 0) {
      for (int rank = 1; rank < size_of(); ++rank) {
        MPI_Recv(nullptr, 0, MPI_INT, rank, 5, comm.get(), MPI_STATUS_IGNORE);
      }
    }
    trial.wait();
    if (rank_in() != 0) MPI_Send(nullptr, 0, MPI_INT, 0, 5, comm.get());
    trial.check();
  }
}

}  // namespace
}  // namespace sibyl::test
