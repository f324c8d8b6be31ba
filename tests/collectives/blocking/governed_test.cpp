// Governed calls: sites that are slower than the MPI library go to it on all ranks alike, results
// stay right meanwhile, and nothing hangs whatever a rank does.
//
// Times are made up, so that nothing depends on how fast this machine is.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "collectives/blocking/governed_calls.hpp"

namespace sibyl::test {
namespace {

TEST_F(GovernedCalls, GoToTheLibraryWhereTheModelIsWrong) {
  int watched = 0;
  for (const Collective collective : all_governed_ones) {
    SCOPED_TRACE(name_of(collective));
    Governed governed(3e-3, 1e-3);
    if (collective == Collective::reduce) {  // Sibyl's are for ranks that are far apart
      std::vector<double> arrivals(static_cast<std::size_t>(size_of()));
      arrivals.back() = 1;
      ASSERT_EQ(SIBYL_Comm_set_arrivals(governed.get(), arrivals.data(), size_of()), MPI_SUCCESS);
    }
    const bool rooted = has_root(collective);
    make_governed_calls(governed, collective, rooted ? 40 : 20);
    if (governed.sites().empty()) {
      EXPECT_EQ(size_of(), 2);  // there the model may choose the library
      continue;
    }
    ++watched;
    EXPECT_EQ(governed.arm(0), Arm::native);
    if (rooted) {
      EXPECT_EQ(governed.arm(1), Arm::native);
    }
    make_governed_calls(governed, collective,
                        rooted ? 40 : 20);  // in which the challenger has its trial
    const std::int64_t before = governed.site().served[1];
    make_governed_calls(governed, collective, 40);
    EXPECT_EQ(governed.site().served[1] - before, rooted ? 20 : 40);
  }
  EXPECT_GT(watched, 0);
}

TEST_F(GovernedCalls, StayWhereTheModelIsRight) {
  for (const Collective collective : governed_ones) {
    SCOPED_TRACE(name_of(collective));
    Governed governed(1e-3, 3e-3);
    make_governed_calls(governed, collective, 100);
    if (governed.sites().empty()) continue;
    EXPECT_EQ(governed.arm(0), Arm::own);
    EXPECT_EQ(governed.site().served[1], 5);  // of the trial
    EXPECT_EQ(governed.site().served[2], governed.site().key.challenger != nullptr ? 5 : 0);
  }
}

TEST_F(GovernedCalls, AreTriedAgainEverMoreRarely) {
  Governed governed(1.5e-3, 1e-3);
  make_governed_calls(governed, Collective::exscan, 20);
  ASSERT_EQ(governed.arm(), Arm::native);
  const auto own_again = [&] {
    return governed.site().next_trial[static_cast<std::size_t>(Arm::own)];
  };
  const std::int64_t again = own_again();
  EXPECT_GE(again, Judge::first_pause);
  while (governed.site().calls < again + 20) make_governed_calls(governed, Collective::exscan, 1);
  ASSERT_EQ(governed.arm(), Arm::native);
  EXPECT_GE(own_again() - again, 2 * Judge::first_pause);
}

// New arrivals bring nothing new to what follows none.
TEST_F(GovernedCalls, AreNotTriedSoonerForArrivalsThatTheyDoNotFollow) {
  Governed governed(1e-3, 3e-3);
  make_governed_calls(governed, Collective::exscan, 100);
  ASSERT_EQ(governed.arm(), Arm::own);
  const auto trials = [&] { return governed.site().served[static_cast<std::size_t>(Arm::native)]; };
  const std::int64_t before = trials();
  std::vector<double> arrivals(static_cast<std::size_t>(size_of()));
  for (int call = 0; call < 2 * Judge::first_pause; ++call) {
    arrivals[static_cast<std::size_t>(call % size_of())] = call;
    ASSERT_EQ(SIBYL_Comm_set_arrivals(governed.get(), arrivals.data(), size_of()), MPI_SUCCESS);
    make_governed_call(governed, Collective::exscan, call);
  }
  EXPECT_LE(trials() - before, 4);  // one trial, whose time has come
}

// Calls of seconds: beside them agreements cost nothing.
TEST_F(GovernedCalls, FollowALinkThatBecomesSlower) {
  Governed governed(1, 2);
  make_governed_calls(governed, Collective::exscan, 60);
  ASSERT_EQ(governed.arm(), Arm::own);
  governed.take(4, 2);
  make_governed_calls(governed, Collective::exscan, 20);
  EXPECT_EQ(governed.arm(), Arm::native);
}

TEST_F(GovernedCalls, AreNotMadeWhereNobodyGoverns) {
  Governed governed(3e-3, 1e-3);
  governed.govern(0);
  EXPECT_EQ(governed.state().governing(), nullptr);
  make_governed_calls(governed, Collective::exscan, 20);
  EXPECT_FALSE(
      governed.state().cached_choice[static_cast<std::size_t>(Collective::exscan)].governed);
}

TEST_F(GovernedCalls, AreThoseThatNobodyAskedFor) {
  Governed governed(3e-3, 1e-3);
  Settings settings;
  settings.govern = 1;
  settings.algorithm[static_cast<std::size_t>(Collective::exscan)] = 0;
  governed.state().replace_settings(settings);
  make_governed_calls(governed, Collective::exscan, 20);
  EXPECT_TRUE(governed.sites().empty());
  settings = {};
  settings.govern = 1;
  settings.reproducible = 1;
  governed.state().replace_settings(settings);
  make_governed_calls(governed, Collective::exscan, 20);
  EXPECT_TRUE(governed.sites().empty());
  make_governed_calls(governed, Collective::gather,
                      20);  // moves data: its bits are the same by either
  EXPECT_FALSE(governed.sites().empty());
}

TEST_F(GovernedCalls, OfFewBytesSendNoMessages) {
  Governed governed(3e-6, 1e-6);
  make_governed_calls(governed, Collective::exscan, 100, 16);
  EXPECT_EQ(governed.state().governing()->agreements(), 0);
  EXPECT_EQ(governed.site().served[1], 0);
  // Long calls that agree often, since Sibyl serves them and they take seconds.
  governed.state().governing()->replace_times([](const Governor::Site& site, Arm arm) {
    const double better = site.sends ? 1 : 1e-6;
    return (arm == Arm::own) == site.sends ? better : 3 * better;
  });
  for (int call = 0; call < 60; ++call) {
    make_governed_call(governed, Collective::exscan, call);
    make_governed_call(governed, Collective::exscan, call, 16);
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
  std::vector<int> own(governed_elements, 1);
  std::vector<int> sums(governed_elements, -1);
  const int refusing = static_cast<int>(pick(random, static_cast<std::uint32_t>(size_of())));
  for (int call = 0; call < 60; ++call) {
    const bool refuses = pick(random, 4) == 0 && rank_in() == refusing;
    if (refuses) {
      const bool type = pick(random, 2) == 0;
      EXPECT_NE(SIBYL_Allreduce(own.data(), sums.data(), type ? governed_elements : -1,
                                type ? MPI_DATATYPE_NULL : MPI_INT, MPI_SUM, governed.get()),
                MPI_SUCCESS);
    }
    ASSERT_EQ(SIBYL_Allreduce(own.data(), sums.data(), governed_elements, MPI_INT, MPI_SUM,
                              governed.get()),
              MPI_SUCCESS);
    EXPECT_EQ(sums.back(), size_of());
  }
  if (!governed.sites().empty()) {
    EXPECT_EQ(governed.arm(), Arm::native);
  }
}

// The same of calls whose sizes only the root knows.
TEST_F(GovernedCalls, StayInStepWhereRanksRefuseIrregularCallsAlone) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  const auto ranks = static_cast<std::size_t>(size_of());
  const std::vector<int> counts(ranks, 1);
  std::vector<int> places(ranks);
  for (std::size_t r = 0; r < ranks; ++r) places[r] = static_cast<int>(r);
  for (const bool scatters : {false, true}) {
    Governed governed(3e-3, 1e-3);
    MPI_Comm_set_errhandler(governed.get(), MPI_ERRORS_RETURN);
    const int refusing = static_cast<int>(pick(random, static_cast<std::uint32_t>(size_of())));
    for (int number = 0; number < 60; ++number) {
      std::vector<int> all(ranks, scatters && rank_in() == 0 ? number : -1);
      int own = scatters ? -1 : number + rank_in();
      const auto call = [&](int count) {
        return scatters ? SIBYL_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, &own,
                                         count, MPI_INT, 0, governed.get())
                        : SIBYL_Gatherv(&own, count, MPI_INT, all.data(), counts.data(),
                                        places.data(), MPI_INT, 0, governed.get());
      };
      if (pick(random, 4) == 0 && rank_in() == refusing) {
        EXPECT_EQ(class_of(call(-1)), MPI_ERR_COUNT);
      }
      ASSERT_EQ(call(1), MPI_SUCCESS);
      if (scatters) {
        EXPECT_EQ(own, number);
      }
      if (!scatters && rank_in() == 0) {
        EXPECT_EQ(all.back(), number + size_of() - 1);
      }
    }
    if (!governed.sites().empty()) {
      EXPECT_EQ(governed.arm(), Arm::native);
    }
  }
}

// Whatever is under way, at whichever rank.
TEST_F(GovernedCalls, EndWithTheirCommunicator) {
  for (int last = 8; last < 20; ++last) {
    const Governed governed(3e-3, 1e-3);
    make_governed_calls(governed, Collective::exscan, last);
  }
}

constexpr int until_first_report = 11;  // calls; in the last of these it is sent

// What the governor does in calls, and nothing else.
Governing& govern_calls(Governed& governed, int calls) {
  Governing& governing = *governed.state().governing();
  const Governor::Key key =
      Governor::key_of(Collective::bcast, 0, governed_elements * sizeof(int), OperatorUse::none,
                       true, &algorithms(Collective::bcast).front());
  for (int call = 0; call < calls; ++call) governing.leave(governing.enter(key, 0), true);
  return governing;
}

// A rank goes without its last call, as one may that does not wait for others in it, and is not
// waited for for ever. (Rank 0 would leave a message that nobody receives on a communicator that is
// freed, which is an error of the program after which Open MPI loses messages of the next one.)
TEST_F(GovernedCalls, EndWithTheirCommunicatorWhereARankIsBehind) {
  if (size_of() < 2) GTEST_SKIP() << "nothing is governed";
  Governed governed(3e-3, 1e-3);
  const bool behind = rank_in() == size_of() - 1;
  Governing& governing = govern_calls(governed, until_first_report - (behind ? 1 : 0));
  EXPECT_EQ(governing.finish(), behind) << "others have given up a message";
}

// Rank 0 comes to the end when the others wait for its verdicts no longer, and still sends them.
TEST_F(GovernedCalls, HearNothingOfACommunicatorBeforeTheirs) {
  if (size_of() < 2) GTEST_SKIP() << "nothing is governed";
  for (int turn = 0; turn < 2; ++turn) {
    Governed before(3e-3, 1e-3);
    govern_calls(before, until_first_report);
    if (rank_in() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  Governed next(1e-3, 3e-3);
  make_governed_calls(next, Collective::allgather, 40);
  if (!next.sites().empty()) {
    EXPECT_EQ(next.arm(), Arm::own);
  }
}

// One rank's calls go the whole way each time, as their types are not predefined; the others'
// are known when they come again. All are the library's.
TEST_F(GovernedCalls, ThatThereIsNoRoomForAreTheLibrarysOnAllRanks) {
  Governed governed(1e-3, 3e-3);
  Governing& governing = *governed.state().governing();
  for (std::size_t i = 0; i < Governor::most_sites; ++i) {
    const Collective collective = i % 2 == 0 ? Collective::gather : Collective::scatter;
    const Governor::Key key = Governor::key_of(collective, 0, 1ULL << i / 2, OperatorUse::none,
                                               true, &algorithms(collective).front());
    governing.leave(governing.enter(key, 0), true);
  }
  ASSERT_EQ(governed.sites().size(), Governor::most_sites);
  constexpr int count = governed_elements;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, MPI_INT, &whole);
  MPI_Type_commit(&whole);
  const bool derived = rank_in() == size_of() - 1;
  std::vector<int> data(count);
  static int served;
  served = 0;
  on_served = [] { ++served; };
  for (int call = 0; call < 20; ++call) {
    std::ranges::fill(data, rank_in() == 0 ? call : -1);
    ASSERT_EQ(
        SIBYL_Bcast(data.data(), derived ? 1 : count, derived ? whole : MPI_INT, 0, governed.get()),
        MPI_SUCCESS);
    EXPECT_EQ(data, std::vector<int>(count, call));
  }
  on_served = nullptr;
  MPI_Type_free(&whole);
  EXPECT_EQ(governed.sites().size(), Governor::most_sites);
  EXPECT_EQ(served, 0);
  if (size_of() > 2) {  // there the model may choose the library
    EXPECT_TRUE(
        governed.state().cached_choice[static_cast<std::size_t>(Collective::bcast)].governed);
  }
}

TEST_F(GovernedCalls, AreOfEachCommunicatorByItself) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  const Part halves(rank_in() % 2, -rank_in());
  Governed all(3e-3, 1e-3);
  Governed other(1e-3, 3e-3);
  std::vector<int> own(governed_elements, 1);
  std::vector<int> sums(governed_elements, -1);
  Duplicate half(halves.get());
  for (int call = 0; call < 120; ++call) {
    const std::uint32_t which = pick(random, 3);
    if (which == 2) {
      ASSERT_EQ(
          SIBYL_Allreduce(own.data(), sums.data(), governed_elements, MPI_INT, MPI_SUM, half.get()),
          MPI_SUCCESS);
    } else {
      make_governed_call(which == 0 ? all : other, Collective::exscan, call);
    }
  }
  EXPECT_EQ(all.arm(), Arm::native);
  EXPECT_EQ(other.arm(), Arm::own);
}

}  // namespace
}  // namespace sibyl::test
