// With SIBYL_NODE_WINDOW the messages of gatherv, scatterv and persistent requests within a node go
// through its memory: they are counted there. Without, there is nothing to see.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
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

bool are_windows() {
  const std::uint32_t asked = Process::get()->environment().node_window;
  return asked != 0 && asked != window_where_it_pays;
}

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

// A call of one of the collectives that windows serve, by any of its algorithms, in blocks of so
// many elements; how many elements of its result are wrong.
int wrong_in_a_call(Served& served, Random& random) {
  constexpr std::array<Collective, 6> collectives{Collective::gatherv,   Collective::scatterv,
                                                  Collective::allreduce, Collective::bcast,
                                                  Collective::reduce,    Collective::allgather};
  const Collective collective = collectives[pick(random, collectives.size())];
  const std::span<const Algorithm> rows = algorithms(collective);
  served.state().replace_settings(forced(collective, &rows[pick(random, rows.size())]));
  const int size = size_of(served.get());
  const int rank = rank_in(served.get());
  const auto root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size)));
  const auto first = static_cast<int>(pick(random, 1000));
  const int count = pick(random, 4) == 0 ? 20000 : 1 + static_cast<int>(pick(random, 100));
  const std::vector<int> counts(static_cast<std::size_t>(size), count);
  std::vector<int> places(counts.size());
  for (int r = 0; r < size; ++r) places[static_cast<std::size_t>(r)] = r * count;
  // Rank r has first + r everywhere; a scatter's root has first + r for rank r.
  const std::vector<int> own(static_cast<std::size_t>(count), first + rank);
  std::vector<int> all(static_cast<std::size_t>(size * count), -1);
  std::vector<int> received(own.size(), -1);
  const auto expect_blocks = [&] {
    int wrong = 0;
    for (int i = 0; i < size * count; ++i) {
      wrong += all[static_cast<std::size_t>(i)] == first + i / count ? 0 : 1;
    }
    return wrong;
  };
  const auto expect_each = [&](int value) {
    return count - static_cast<int>(std::ranges::count(received, value));
  };
  const int sum = size * first + size * (size - 1) / 2;
  MPI_Comm comm = served.get();
  switch (collective) {
    case Collective::gatherv:
      SIBYL_Gatherv(own.data(), count, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                    root, comm);
      return rank == root ? expect_blocks() : 0;
    case Collective::scatterv:
      for (int i = 0; i < size * count; ++i) all[static_cast<std::size_t>(i)] = first + i / count;
      SIBYL_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, received.data(), count,
                     MPI_INT, root, comm);
      return expect_each(first + rank);
    case Collective::allreduce:
      SIBYL_Allreduce(own.data(), received.data(), count, MPI_INT, MPI_SUM, comm);
      return expect_each(sum);
    case Collective::bcast:
      received = own;
      SIBYL_Bcast(received.data(), count, MPI_INT, root, comm);
      return expect_each(first + root);
    case Collective::reduce:
      SIBYL_Reduce(own.data(), received.data(), count, MPI_INT, MPI_SUM, root, comm);
      return rank == root ? expect_each(sum) : 0;
    default:
      SIBYL_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
      return expect_blocks();
  }
}

// Each has a communicator of its own, and so a window of its own.
TEST(WindowsOfThreads, ServeTwoAtOnce) {
  SIBYL_TRACE_SEED();
  if (size_of() < 2 || thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  if (!are_windows()) GTEST_SKIP() << "there are none";
  std::array<std::unique_ptr<Served>, 2> communicators;
  std::array<int, 2> wrong{};
  for (auto& each : communicators) each = std::make_unique<Served>(Collective::gatherv, nullptr);
  const auto run = [&](std::size_t thread) {
    for (int call = 0; call < cases(200); ++call) {
      Random random(run_seed() + 7919 * thread + 1000003 * static_cast<std::uint64_t>(call));
      wrong[thread] += wrong_in_a_call(*communicators[thread], random);
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(wrong[0], 0);
  EXPECT_EQ(wrong[1], 0);
  for (auto& each : communicators) {
    const NodeWindow* const window = each->state().node_window();
    EXPECT_EQ(window != nullptr, neighbours(each->state()) > 0);
    if (window != nullptr) {
      EXPECT_GT(window->slots_filled(), 0);
    }
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

class PersistentInAWindowWithoutAThread : public testing::Test {
 protected:
  void SetUp() override { take_the_thread_away(comm_.get()); }
  Duplicate comm_;
};

// Rank 0 has begun to send what the last one waits for before it comes; such a message needs its
// sender in a call of MPI's, where a rank that tests a window is not.
TEST_F(PersistentInAWindowWithoutAThread, WhoTestsMovesTheProgramsMessagesToo) {
  if (size_of() < 2) GTEST_SKIP();
  const int last = size_of() - 1;
  std::vector<char> message(1U << 20);
  const int bytes = static_cast<int>(message.size());
  PersistentTrial trial({Collective::allreduce, "recursive-doubling", false, true, 0, 300},
                        comm_.get());
  for (std::uint64_t k = 0; k < 3; ++k) {
    MPI_Request sent = MPI_REQUEST_NULL;
    if (rank_in() == 0) MPI_Isend(message.data(), bytes, MPI_CHAR, last, 5, comm_.get(), &sent);
    if (rank_in() == last) {
      MPI_Recv(message.data(), bytes, MPI_CHAR, 0, 5, comm_.get(), MPI_STATUS_IGNORE);
    }
    trial.start(k);
    trial.arrive();
    trial.wait_by_tests();
    trial.check();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

// The root writes what goes to both once; rank 2, which does not read, waits for rank 1, which
// does.
TEST_F(PersistentInAWindowWithoutAThread, ALateReaderHoldsUpNoOtherWhereTheRootTests) {
  if (size_of() < 3) GTEST_SKIP();
  PersistentTrial trial({Collective::bcast, "binomial", false, true, 0, 300000}, comm_.get());
  for (std::uint64_t k = 0; k < 3; ++k) {
    trial.start(k);
    trial.arrive();
    int word = 0;
    if (rank_in() == 0) {
      trial.wait_by_tests();
    } else {
      if (rank_in() == 2) MPI_Recv(&word, 1, MPI_INT, 1, 5, comm_.get(), MPI_STATUS_IGNORE);
      trial.wait();
      if (rank_in() == 1) MPI_Send(&word, 1, MPI_INT, 2, 5, comm_.get());
    }
    trial.check();
  }
}

}  // namespace
}  // namespace sibyl::test
