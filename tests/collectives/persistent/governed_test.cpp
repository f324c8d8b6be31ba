// Gathers whose leaves send at once and gathers that ask for the blocks take turns in a request,
// until the faster one serves; results are right whichever does.
#include <string>

#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"

namespace sibyl::test {
namespace {

constexpr double ms = 1e-3;  // seconds

class PersistentGoverned : public testing::Test {
 protected:
  static PersistentRequest& inside(PersistentTrial& trial) {
    return *reinterpret_cast<PersistentRequest*>(*trial.request());
  }
  static PersistentCase large_gather() {
    PersistentCase now;
    now.root = size_of() - 1;  // not the rank that judges
    now.count = 3000;
    return now;
  }
  static bool is_governed_here() { return size_of() >= 3 && thread_level() >= MPI_THREAD_MULTIPLE; }
  // Iterations in which the two are taken to last so long.
  static void run(PersistentTrial& trial, double at_once, double asked_for, int iterations) {
    if (Governing* governing = inside(trial).governing()) {
      governing->replace_times([=](const Governor::Site&, Arm arm) {
        return arm == Arm::challenger ? asked_for : at_once;
      });
    }
    Random own(run_seed() + static_cast<std::uint64_t>(rank_in()));
    for (int i = 0; i < iterations; ++i) {
      iterate(trial, static_cast<std::uint64_t>(i), Edges::all, own);
      trial.check();
    }
  }
};

TEST_F(PersistentGoverned, GathersGoOnByWhatIsFaster) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial trial(large_gather(), comm.get());
  ASSERT_NE(inside(trial).governing(), nullptr);
  const Governor& governor = inside(trial).governing()->governor();
  run(trial, 3 * ms, 1 * ms, 20);
  ASSERT_EQ(governor.sites().size(), 1U);
  const Governor::Site& site = governor.sites().front();
  EXPECT_FALSE(governor.is_off());
  EXPECT_TRUE(site.decided);
  EXPECT_EQ(site.arm, Arm::challenger);
  EXPECT_EQ(site.served[static_cast<std::size_t>(Arm::native)], 0);
  // Asking becomes slower: the watch finds it, and a trial against the other.
  run(trial, 3 * ms, 9 * ms, 40);
  EXPECT_EQ(site.arm, Arm::own);
  EXPECT_FALSE(governor.is_off());
}

TEST_F(PersistentGoverned, RanksThatTestAndRanksThatWaitAgree) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial trial(large_gather(), comm.get());
  for (std::uint64_t i = 0; i < 60; ++i) {
    trial.start(i);
    trial.arrive();
    if ((i + static_cast<std::uint64_t>(rank_in())) % 2 == 0) {
      trial.wait();
    } else {
      trial.wait_by_tests();
    }
    trial.check();
  }
  const Governor& governor = inside(trial).governing()->governor();
  EXPECT_FALSE(governor.is_off());
  EXPECT_GE(inside(trial).governing()->agreements(), 1);
}

// Others give what a rank calls for between Arrive and Wait only after their own Wait, in every
// iteration, those that end in an agreement among them.
TEST_F(PersistentGoverned, AgreementsNeedNobodysWait) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial trial(large_gather(), comm.get());
  const int root = size_of() - 1;
  for (std::uint64_t i = 0; i < 16; ++i) {
    trial.start(i);
    trial.arrive();
    int word = 0;
    if (rank_in() == 0) MPI_Recv(&word, 1, MPI_INT, root, 0, comm.get(), MPI_STATUS_IGNORE);
    trial.wait();
    if (rank_in() == root) MPI_Send(&word, 1, MPI_INT, 0, 0, comm.get());
    trial.check();
  }
}

// The rank that judges is held up before it comes, by one that has ended the iteration.
TEST_F(PersistentGoverned, AgreementsNeedNobodysArrival) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial trial(large_gather(), comm.get());
  for (std::uint64_t i = 0; i < 40; ++i) {
    trial.start(i);
    int word = 0;
    if (rank_in() == 0) MPI_Recv(&word, 1, MPI_INT, 1, 0, comm.get(), MPI_STATUS_IGNORE);
    trial.arrive();
    trial.wait();
    if (rank_in() == 1 && size_of() > 2) MPI_Send(&word, 1, MPI_INT, 0, 0, comm.get());
    trial.check();
  }
}

// It may start an iteration after others have ended it: they wait for the one before.
TEST_F(PersistentGoverned, AgreementsNeedNobodysStart) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial trial(large_gather(), comm.get());
  for (std::uint64_t i = 0; i < 40; ++i) {
    int word = 0;
    if (rank_in() == 0) MPI_Recv(&word, 1, MPI_INT, 1, 0, comm.get(), MPI_STATUS_IGNORE);
    trial.start(i);
    trial.arrive();
    trial.wait();
    if (rank_in() == 0) trial.wait();  // of an inactive one: nothing
    if (rank_in() == 1) MPI_Send(&word, 1, MPI_INT, 0, 0, comm.get());
    trial.check();
  }
  EXPECT_GE(inside(trial).governing()->agreements(), 1);
}

// Each of the first two ranks takes part in one request and only then in the other one.
TEST_F(PersistentGoverned, TwoRequestsAreTakenInOtherOrders) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  PersistentTrial first(large_gather(), comm.get());
  PersistentTrial second(large_gather(), comm.get());
  const auto one_by_one = [](PersistentTrial& one, PersistentTrial& other, std::uint64_t i) {
    for (PersistentTrial* trial : {&one, &other}) {
      trial->start(i);
      trial->arrive();
      trial->wait();
    }
  };
  for (std::uint64_t i = 0; i < 40; ++i) {
    if (rank_in() == 0) {
      one_by_one(first, second, i);
    } else if (rank_in() == 1) {
      one_by_one(second, first, i);
    } else {
      first.start(i);
      second.start(i);
      first.arrive();
      second.arrive();
      first.wait();
      second.wait();
    }
    first.check();
    second.check();
  }
  EXPECT_FALSE(inside(first).governing()->governor().is_off());
}

// What is under way then meets none of the next request, which has the same tags.
TEST_F(PersistentGoverned, RequestsAreFreedWhereverTheyAre) {
  if (!is_governed_here()) GTEST_SKIP() << "needs a thread, and two that send";
  const Duplicate comm;
  for (int iterations = 8; iterations < 16; ++iterations) {
    PersistentTrial trial(large_gather(), comm.get());
    Random own(run_seed() + static_cast<std::uint64_t>(rank_in()));
    for (int i = 0; i < iterations; ++i) {
      iterate(trial, static_cast<std::uint64_t>(i), Edges::all, own);
      trial.check();
    }
    trial.free();
  }
}

TEST_F(PersistentGoverned, WhatIsAskedForIsNotQuestioned) {
  const Duplicate comm;
  PersistentCase by_name = large_gather();
  by_name.algorithm = "linear";
  PersistentCase other = large_gather();
  other.collective = Collective::scatter;
  for (const PersistentCase& now : {by_name, other}) {
    PersistentTrial trial(now, comm.get());
    EXPECT_EQ(inside(trial).governing(), nullptr) << now.text();
  }
  take_the_thread_away(comm.get());
  PersistentTrial trial(large_gather(), comm.get());
  EXPECT_EQ(inside(trial).governing(), nullptr) << "without a thread";
}

}  // namespace
}  // namespace sibyl::test
