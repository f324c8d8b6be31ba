// Governed calls: sites that are slower than the MPI library go to it on all ranks alike, results
// stay right meanwhile, and nothing hangs whatever a rank does.
//
// Times are made up, so that nothing depends on how fast this machine is.
#include <cstdint>
#include <vector>

#include "collectives/harness.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr int elements = 2048;  // 8 KiB: long enough for messages of the governor's own

// A duplicate whose ranks lie on nodes of their own, as slow links join them: nearly everything is
// chosen to be Sibyl's. `own` and `native`: what a call takes by these.
class Governed {
 public:
  explicit Governed(double own, double native, MPI_Comm parent = MPI_COMM_WORLD)
      : duplicate_(parent), state_(CommunicatorState::get(duplicate_.get())) {
    EXPECT_TRUE(state_->serves(get(), true));
    state_->set_placement({.ranks_per_node = 1, .nodes = {}, .count = 0});
    Costs costs;
    costs.alpha = costs.overhead = 1e-6;
    costs.beta = 10e-3 / (elements * sizeof(int));
    state_->replace_costs(costs);
    govern(0);
    govern(1);
    take(own, native);
  }
  void govern(std::uint32_t on) {
    Settings settings;
    settings.govern = on;
    state_->replace_settings(settings);
  }
  void take(double own, double native) {
    if (state_->governing() == nullptr) return;  // one rank
    state_->governing()->replace_times(
        [=](const Governor::Site&, Arm arm) { return arm == Arm::own ? own : native; });
  }
  MPI_Comm get() const { return duplicate_.get(); }
  CommunicatorState& state() { return *state_; }
  std::span<const Governor::Site> sites() { return state_->governing()->governor().sites(); }
  const Governor::Site& site(std::size_t index = 0) { return sites()[index]; }

  // The same on all ranks, or the test fails.
  Arm arm(std::size_t index = 0) {
    const Governor::Site& one = site(index);
    const std::int64_t own[] = {static_cast<std::int64_t>(one.arm), one.decided ? 1 : 0, one.calls,
                                one.served[0]};
    std::int64_t least[4];
    std::int64_t most[4];
    MPI_Allreduce(own, least, 4, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(own, most, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(least[i], most[i]) << i;
    EXPECT_EQ(least[1], 1) << "not decided";
    return one.arm;
  }

 private:
  Duplicate duplicate_;
  CommunicatorState* state_;
};

int value(int call, int rank, int element) { return call * 31 + rank * 7 + element; }

// One call whose result is looked at. `all` is this rank's number of blocks, `root` 0 or the last.
void call_once(const Governed& governed, Collective collective, int call, int count = elements) {
  const int rank = rank_in();
  const int size = size_of();
  const int root = call % 2 == 0 ? 0 : size - 1;
  const auto n = static_cast<std::size_t>(count);
  std::vector<int> own(n);
  std::vector<int> result(n, -1);
  std::vector<int> all(n * static_cast<std::size_t>(size), -1);
  for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = value(call, rank, i);
  const auto sum = [&](int ranks, int i) {
    return ranks * (call * 31 + i) + 7 * ranks * (ranks - 1) / 2;
  };
  MPI_Comm comm = governed.get();
  switch (collective) {
    case Collective::exscan:
      ASSERT_EQ(SIBYL_Exscan(own.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      for (int i = 0; i < count && rank > 0; ++i) {
        ASSERT_EQ(result[static_cast<std::size_t>(i)], sum(rank, i)) << "call " << call;
      }
      return;
    case Collective::allreduce:
      ASSERT_EQ(SIBYL_Allreduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, comm), 0);
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(result[static_cast<std::size_t>(i)], sum(size, i)) << "call " << call;
      }
      return;
    case Collective::reduce:
      ASSERT_EQ(SIBYL_Reduce(own.data(), result.data(), count, MPI_INT, MPI_SUM, root, comm), 0);
      for (int i = 0; i < count && rank == root; ++i) {
        ASSERT_EQ(result[static_cast<std::size_t>(i)], sum(size, i)) << "call " << call;
      }
      return;
    case Collective::bcast:
      ASSERT_EQ(SIBYL_Bcast(own.data(), count, MPI_INT, root, comm), 0);
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(own[static_cast<std::size_t>(i)], value(call, root, i)) << "call " << call;
      }
      return;
    case Collective::gather:
      ASSERT_EQ(SIBYL_Gather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, root, comm),
                0);
      break;
    case Collective::alltoall:
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = value(call, rank, static_cast<int>(i % n));
      }
      ASSERT_EQ(SIBYL_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all.data(), count, MPI_INT, comm), 0);
      break;
    default:
      ASSERT_EQ(SIBYL_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm), 0);
      break;
  }
  if (collective == Collective::gather && rank != root) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], value(call, static_cast<int>(i / n), static_cast<int>(i % n)))
        << "call " << call;
  }
}

void calls(const Governed& governed, Collective collective, int times, int count = elements) {
  for (int call = 0; call < times; ++call) {
    call_once(governed, collective, call, count);
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr Collective governed_ones[] = {Collective::exscan,   Collective::allreduce,
                                        Collective::bcast,    Collective::gather,
                                        Collective::alltoall, Collective::allgather};

class GovernedCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of() < 2) GTEST_SKIP() << "one rank has nothing to govern";
  }
};

TEST_F(GovernedCalls, GoToTheLibraryWhereTheModelIsWrong) {
  for (const Collective collective : governed_ones) {
    SCOPED_TRACE(name_of(collective));
    Governed governed(3e-3, 1e-3);
    const bool rooted = has_root(collective);
    calls(governed, collective, rooted ? 40 : 20);
    if (governed.sites().empty()) continue;  // two ranks: the model chooses the library
    EXPECT_EQ(governed.arm(0), Arm::native);
    if (rooted) {
      EXPECT_EQ(governed.arm(1), Arm::native);
    }
    const std::int64_t before = governed.site().served[1];
    calls(governed, collective, 40);
    EXPECT_EQ(governed.site().served[1] - before, rooted ? 20 : 40);
  }
}

TEST_F(GovernedCalls, StayWhereTheModelIsRight) {
  for (const Collective collective : governed_ones) {
    SCOPED_TRACE(name_of(collective));
    Governed governed(1e-3, 3e-3);
    calls(governed, collective, 100);
    if (governed.sites().empty()) continue;
    EXPECT_EQ(governed.arm(0), Arm::own);
    EXPECT_EQ(governed.site().served[1], 5);  // of the trial
  }
}

TEST_F(GovernedCalls, AreTriedAgainEverMoreRarely) {
  Governed governed(1.5e-3, 1e-3);
  calls(governed, Collective::exscan, 20);
  ASSERT_EQ(governed.arm(), Arm::native);
  const std::int64_t first = governed.site().next_trial - governed.site().decided_at;
  EXPECT_GE(first, Judge::first_pause);
  const std::int64_t again = governed.site().next_trial;
  while (governed.site().calls < again + 20) calls(governed, Collective::exscan, 1);
  ASSERT_EQ(governed.arm(), Arm::native);
  EXPECT_GE(governed.site().next_trial - governed.site().decided_at, 2 * Judge::first_pause);
}

// Calls of seconds: beside them agreements cost nothing.
TEST_F(GovernedCalls, FollowALinkThatBecomesSlower) {
  Governed governed(1, 2);
  calls(governed, Collective::exscan, 60);
  ASSERT_EQ(governed.arm(), Arm::own);
  governed.take(4, 2);
  calls(governed, Collective::exscan, 20);
  EXPECT_EQ(governed.arm(), Arm::native);
}

TEST_F(GovernedCalls, AreNotMadeWhereNobodyGoverns) {
  Governed governed(3e-3, 1e-3);
  governed.govern(0);
  EXPECT_EQ(governed.state().governing(), nullptr);
  calls(governed, Collective::exscan, 20);
  EXPECT_FALSE(
      governed.state().cached_choice[static_cast<std::size_t>(Collective::exscan)].governed);
}

TEST_F(GovernedCalls, AreThoseThatNobodyAskedFor) {
  Governed governed(3e-3, 1e-3);
  Settings settings;
  settings.govern = 1;
  settings.algorithm[static_cast<std::size_t>(Collective::exscan)] = 0;
  governed.state().replace_settings(settings);
  calls(governed, Collective::exscan, 20);
  EXPECT_TRUE(governed.sites().empty());
  settings = {};
  settings.govern = 1;
  settings.reproducible = 1;
  governed.state().replace_settings(settings);
  calls(governed, Collective::exscan, 20);
  EXPECT_TRUE(governed.sites().empty());
  calls(governed, Collective::gather, 20);  // moves data: its bits are the same by either
  EXPECT_FALSE(governed.sites().empty());
}

TEST_F(GovernedCalls, OfFewBytesSendNoMessages) {
  Governed governed(3e-6, 1e-6);
  calls(governed, Collective::exscan, 100, 16);
  EXPECT_EQ(governed.state().governing()->agreements(), 0);
  EXPECT_EQ(governed.site().served[1], 0);
  // Long calls that agree often, since Sibyl serves them and they take seconds.
  governed.state().governing()->replace_times([](const Governor::Site& site, Arm arm) {
    const double better = site.sends ? 1 : 1e-6;
    return (arm == Arm::own) == site.sends ? better : 3 * better;
  });
  for (int call = 0; call < 60; ++call) {
    call_once(governed, Collective::exscan, call);
    call_once(governed, Collective::exscan, call, 16);
  }
  EXPECT_EQ(governed.arm(0), Arm::native);
  EXPECT_EQ(governed.arm(1), Arm::own);
}

// A rank whose calls fail before anything moves is behind by one, as in the MPI libraries, and
// catches up by one more call in the end.
TEST_F(GovernedCalls, StayInStepWhereRanksRefuseCallsAlone) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  Governed governed(3e-3, 1e-3);
  std::vector<int> own(elements, 1);
  std::vector<int> sums(elements, -1);
  const int refusing = static_cast<int>(pick(random, static_cast<std::uint32_t>(size_of())));
  for (int call = 0; call < 60; ++call) {
    const bool refuses = pick(random, 4) == 0 && rank_in() == refusing;
    if (refuses) {
      const bool type = pick(random, 2) == 0;
      EXPECT_NE(SIBYL_Allreduce(own.data(), sums.data(), type ? elements : -1,
                                type ? MPI_DATATYPE_NULL : MPI_INT, MPI_SUM, governed.get()),
                MPI_SUCCESS);
    }
    ASSERT_EQ(SIBYL_Allreduce(own.data(), sums.data(), elements, MPI_INT, MPI_SUM, governed.get()),
              MPI_SUCCESS);
    EXPECT_EQ(sums.back(), size_of());
  }
  if (!governed.sites().empty()) {
    EXPECT_EQ(governed.arm(), Arm::native);
  }
}

// Whatever is under way, at whichever rank.
TEST_F(GovernedCalls, EndWithTheirCommunicator) {
  for (int last = 8; last < 20; ++last) {
    const Governed governed(3e-3, 1e-3);
    calls(governed, Collective::exscan, last);
  }
}

// A rank goes without its last call, as one may that does not wait for others in it, and is not
// waited for for ever. Nothing but what the governor does in a call is done here. (Rank 0 would
// leave a message that nobody receives on a communicator that is freed, which is an error of the
// program after which Open MPI loses messages of the next one.)
TEST_F(GovernedCalls, EndWithTheirCommunicatorWhereARankIsBehind) {
  Governed governed(3e-3, 1e-3);
  Governing& governing = *governed.state().governing();
  const Governor::Key key =
      Governor::key_of(Collective::bcast, 0, elements * sizeof(int), OperatorUse::none, true,
                       &algorithms(Collective::bcast).front());
  const int made = rank_in() == size_of() - 1 ? 10 : 11;  // the first report is before the last one
  for (int call = 0; call < made; ++call) governing.leave(governing.enter(key, 0), true);
}

TEST_F(GovernedCalls, AreOfEachCommunicatorByItself) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  const Part halves(rank_in() % 2, -rank_in());
  Governed all(3e-3, 1e-3);
  Governed other(1e-3, 3e-3);
  std::vector<int> own(elements, 1);
  std::vector<int> sums(elements, -1);
  Duplicate half(halves.get());
  for (int call = 0; call < 120; ++call) {
    const std::uint32_t which = pick(random, 3);
    if (which == 2) {
      ASSERT_EQ(SIBYL_Allreduce(own.data(), sums.data(), elements, MPI_INT, MPI_SUM, half.get()),
                MPI_SUCCESS);
    } else {
      call_once(which == 0 ? all : other, Collective::exscan, call);
    }
  }
  EXPECT_EQ(all.arm(), Arm::native);
  EXPECT_EQ(other.arm(), Arm::own);
}

}  // namespace
}  // namespace sibyl::test
