// Persistent collectives: the results of the calls, whoever is late and whatever is reported;
// misuse; what lives longer than what.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>

#include "collectives/persistent/cases.hpp"
#include "collectives/persistent/request.hpp"
#include "support/taken_budget.hpp"

namespace sibyl::test {
namespace {

PersistentRequest& inside(SIBYL_Request request) {
  return *reinterpret_cast<PersistentRequest*>(request);
}

// Of this rank alone.
Random own_random(std::uint64_t salt) {
  return Random(run_seed() + salt + 7919 * static_cast<std::uint64_t>(rank_in() + 1));
}

TEST(Persistent, EveryAlgorithmGivesTheResultOfItsCollectiveWhateverIsReported) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 40);
  Random own = own_random(41);
  const Duplicate comm;
  const int size = size_of();
  for (int i = 0; i < cases(160); ++i) {
    const PersistentCase now = any_persistent_case(random, size);
    SCOPED_TRACE(now.text());
    PersistentTrial trial(now, comm.get());
    ASSERT_TRUE(trial.made());
    const auto edges = static_cast<Edges>(pick(random, 3));
    for (int k = 0; k < 4; ++k) iterate(trial, random(), edges, own);
    trial.free();
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Persistent, WithoutAThreadTheResultsAreTheSame) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 50);
  Random own = own_random(51);
  const Duplicate comm;
  take_the_thread_away(comm.get());
  for (int i = 0; i < cases(60); ++i) {
    PersistentTrial trial(any_persistent_case(random, size_of()), comm.get());
    ASSERT_TRUE(trial.made());
    const auto edges = static_cast<Edges>(pick(random, 3));
    for (int k = 0; k < 3; ++k) iterate(trial, random(), edges, own);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Persistent, SeveralAtOnceAreStartedAndWaitedForInAnyOrder) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 60);
  Random own = own_random(61);
  const Duplicate comm;
  for (int i = 0; i < cases(20); ++i) {
    std::deque<PersistentTrial> trials;
    for (int k = 0; k < 4; ++k) {
      trials.emplace_back(any_persistent_case(random, size_of()), comm.get());
      ASSERT_TRUE(trials.back().made());
    }
    for (int iteration = 0; iteration < 3; ++iteration) {
      const std::uint64_t seed = random();
      std::vector<std::size_t> order(trials.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto in_any_order = [&](auto act) {
        std::shuffle(order.begin(), order.end(), own);
        for (const std::size_t k : order) {
          act(trials[k], k);
          compute(own, 200);
        }
      };
      in_any_order([&](PersistentTrial& trial, std::size_t k) { trial.start(seed + k); });
      in_any_order([&](PersistentTrial& trial, std::size_t) {
        if (pick(own, 2) == 0) trial.edge(0.4);
      });
      in_any_order([&](PersistentTrial& trial, std::size_t) { trial.arrive(); });
      in_any_order([&](PersistentTrial& trial, std::size_t) { trial.wait(); });
      for (const PersistentTrial& trial : trials) trial.check();
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Persistent, CallsBetweenStartAndWaitMeetNothingOfTheRequest) {
  const Duplicate comm;
  for (const char* algorithm : {"linear", "binomial", "linear-synchronised"}) {
    PersistentTrial trial({Collective::gather, algorithm, true, true, 0, 300}, comm.get());
    for (std::uint64_t k = 0; k < 5; ++k) {
      trial.start(k);
      if (k % 2 == 0) trial.edge(0.5);
      std::vector<int> all(static_cast<std::size_t>(size_of()), -1);
      const int rank = rank_in();
      EXPECT_EQ(SIBYL_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm.get()),
                MPI_SUCCESS);
      trial.arrive();
      for (int r = 0; rank == 0 && r < size_of(); ++r)
        EXPECT_EQ(all[static_cast<std::size_t>(r)], r);
      trial.wait();
      trial.check();
    }
  }
}

// An iteration in which the ranks come in an order of their own, the last one first, each 10 ms
// after the other, and say so when half of the time is over. True where they did: the machine may
// have had other things to do. `error`: of this rank's prediction, in seconds.
bool arrive_one_by_one(PersistentTrial& trial, std::uint64_t seed, MPI_Comm comm, double& error) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const int size = size_of();
  const auto half = static_cast<useconds_t>(30000 + 5000 * (size - rank_in()));
  MPI_Barrier(comm);
  const double begin = now();
  trial.start(seed);
  usleep(half);
  trial.edge(0.5);
  const double middle = now();
  usleep(half);
  const double end = now();
  trial.arrive();
  trial.wait();
  trial.check();
  error = std::abs((end - middle) - (middle - begin));
  const double own[2] = {end, error};
  std::vector<double> all(2 * static_cast<std::size_t>(size));
  MPI_Allgather(own, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, comm);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
    if (all[2 * rank + 1] > 0.002) return false;
    if (rank > 0 && all[2 * rank - 2] - all[2 * rank] < 0.006) return false;
  }
  return true;
}

TEST(Persistent, EdgesForetellTheOrderInWhichRanksAreServed) {
  const int size = size_of();
  if (size < 3 || size > 5) GTEST_SKIP() << "ranks that share a core are late by themselves";
  const Duplicate comm;
  bool busy = false;
  for (const char* algorithm : {"binomial", "linear-synchronised"}) {
    const bool everyone = algorithm == std::string("binomial");
    if (everyone && thread_level() < MPI_THREAD_MULTIPLE) continue;
    std::vector<Rank> came(static_cast<std::size_t>(everyone ? size : size - 1));
    std::iota(came.rbegin(), came.rend(), everyone ? 0 : 1);
    PersistentTrial trial({Collective::gather, algorithm, true, true, 0, 300}, comm.get());
    int as_meant = 0;
    int followed = 0;
    double smallest_error = std::numeric_limits<double>::infinity();
    for (std::uint64_t k = 0; k < 60 && as_meant < 10; ++k) {
      double error = 0;
      const bool counts = arrive_one_by_one(trial, k, comm.get(), error);
      PersistentRequest& request = inside(*trial.request());
      if (!counts) continue;
      ++as_meant;
      if (request.last_order() == came) ++followed;
      smallest_error = std::min(smallest_error, request.last_prediction_error());
    }
    if (as_meant < 5) {
      busy = true;
      continue;
    }
    if (everyone || rank_in() == 0) {
      EXPECT_GE(5 * followed, 4 * as_meant) << algorithm << ", of " << as_meant << " iterations";
    }
    EXPECT_LT(smallest_error, 0.010) << "of a computation of at least 0.07 s";
  }
  if (busy) GTEST_SKIP() << "the machine has other things to do";
}

// As on hosts of one rank whose links are slow; nullptr where Sibyl does not serve it.
CommunicatorState* served_as_hosts(MPI_Comm comm) {
  CommunicatorState* state = CommunicatorState::get(comm);
  if (!state->serves(comm, true)) return nullptr;
  state->set_placement({.ranks_per_node = 1});
  state->replace_costs({.alpha = 50e-6, .overhead = 5e-6, .beta = 8e-8});
  return state;
}

// What goes on without a late rank leaves one block's way to it; without a thread everything that
// goes through that rank would wait for it.
TEST(Persistent, AnAllgatherOfLongBlocksGoesAroundWhereThreadsMoveIt) {
  if (size_of() < 3) GTEST_SKIP();
  for (const bool threaded : {true, false}) {
    const Duplicate comm;
    ASSERT_NE(served_as_hosts(comm.get()), nullptr);
    if (!threaded) take_the_thread_away(comm.get());
    for (const Collective collective : {Collective::allgather, Collective::allgatherv}) {
      PersistentTrial trial({.collective = collective, .count = 32768}, comm.get());
      const PersistentRequest& request = inside(*trial.request());
      const bool moves = threaded && thread_level() == MPI_THREAD_MULTIPLE;
      EXPECT_EQ(request.algorithm()->name,
                moves && collective == Collective::allgather ? "ring" : "spread");
      if (request.algorithm()->name == "ring") {
        EXPECT_GT(request.segments(), 8U);
      }
      for (std::uint64_t k = 0; k < 3; ++k) {
        trial.start(k);
        if (rank_in() == static_cast<int>(k) % size_of()) usleep(5000);
        trial.arrive();
        trial.wait();
        trial.check();
      }
    }
  }
}

// It is left out, in the same iteration as its edge, and not where ranks do not say when they come.
TEST(Persistent, AnAllreduceOfALongVectorLeavesOutWhoSaysThatItIsLate) {
  if (size_of() < 3) GTEST_SKIP();
  for (const bool threaded : {true, false}) {
    const Duplicate comm;
    ASSERT_NE(served_as_hosts(comm.get()), nullptr);
    if (!threaded) take_the_thread_away(comm.get());
    const bool moves = threaded && thread_level() == MPI_THREAD_MULTIPLE;
    PersistentTrial trial({.collective = Collective::allreduce, .count = 1 << 17}, comm.get());
    PersistentRequest& request = inside(*trial.request());
    EXPECT_EQ(request.algorithm()->name, moves ? "pre-reduced-ring" : "ring");
    for (const bool says : {true, false}) {
      for (std::uint64_t k = 0; k < 3; ++k) {
        trial.start(k);
        const bool is_late = rank_in() == size_of() - 1;
        if (says) trial.edge(is_late ? 1e-7 : 0.5);
        trial.arrive();
        trial.wait();
        trial.check();
        EXPECT_EQ(request.last_in_order_of_arrival(), moves && says);
      }
    }
  }
}

// Whole blocks would wait for their receivers' threads at every rank on their way.
TEST(Persistent, AnAllgatherOfWholeLongBlocksGoesStraightToAll) {
  if (size_of() < 3) GTEST_SKIP();
  const Duplicate comm;
  CommunicatorState* state = served_as_hosts(comm.get());
  ASSERT_NE(state, nullptr);
  Settings settings = state->settings();
  settings.segments = 1;
  state->replace_settings(settings);
  PersistentTrial trial({.collective = Collective::allgather, .count = 32768}, comm.get());
  EXPECT_EQ(inside(*trial.request()).algorithm()->name, "spread");
}

TEST(Persistent, WhatHangsOnCostsMeasuresThem) {
  if (size_of() < 3) GTEST_SKIP();
  for (const Collective collective :
       {Collective::allreduce, Collective::bcast, Collective::allgather}) {
    const Duplicate comm;
    CommunicatorState* state = CommunicatorState::get(comm.get());
    ASSERT_TRUE(state->serves(comm.get(), true));
    state->set_placement({.ranks_per_node = 1});
    {
      const PersistentTrial trial({.collective = collective, .count = 1}, comm.get());
    }
    EXPECT_FALSE(state->costs_sought()) << name_of(collective);
    {
      const PersistentTrial trial({.collective = collective, .count = 1 << 17}, comm.get());
    }
    EXPECT_TRUE(state->costs_sought()) << name_of(collective);
  }
}

// The schedule draws them together; nobody waits for what was predicted.
TEST(Persistent, ArrivalsThatAreSaidToBeSecondsApartAreFollowed) {
  if (size_of() < 3 || thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  const Duplicate comm;
  PersistentTrial trial({Collective::reduce, "clairvoyant", true, true, 0, 4096}, comm.get());
  for (std::uint64_t k = 0; k < 3; ++k) {
    trial.start(k);
    trial.edge(rank_in() == size_of() - 1 ? 1e-7 : 0.5);
    trial.arrive();
    trial.wait();
    trial.check();
    EXPECT_TRUE(inside(*trial.request()).last_in_order_of_arrival());
  }
}

// One rank never reports: the others must not wait for it in every iteration.
TEST(Persistent, ARankWithoutEdgesMakesAllLeaveTheExchangeOut) {
  if (size_of() < 3 || thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  const Duplicate comm;
  PersistentTrial trial({Collective::scatter, "binomial", true, true, 0, 10}, comm.get());
  for (std::uint64_t k = 0; k < 12; ++k) {
    trial.start(k);
    if (rank_in() != 1) trial.edge(0.5);
    trial.arrive();
    trial.wait();
    trial.check();
    EXPECT_FALSE(inside(*trial.request()).last_in_order_of_arrival());
  }
}

TEST(Persistent, MisuseIsAnErrorAndLosesNothing) {
  const Duplicate comm;
  SIBYL_Request none = SIBYL_REQUEST_NULL;
  EXPECT_EQ(SIBYL_Wait(&none), MPI_SUCCESS);
  PersistentTrial trial({Collective::gather, "linear", true, true, 0, 40}, comm.get());
  SIBYL_Request* request = trial.request();
  for (std::uint64_t k = 0; k < 2; ++k) {
    EXPECT_EQ(class_of(SIBYL_Edge(request, 0.5)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(SIBYL_Arrive(request)), MPI_ERR_REQUEST);
    EXPECT_EQ(SIBYL_Wait(request), MPI_SUCCESS) << "inactive";
    trial.start(k);
    EXPECT_EQ(class_of(SIBYL_Start(request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(SIBYL_Wait(request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(SIBYL_Request_free(request)), MPI_ERR_REQUEST);
    for (const double wrong : {0.0, 1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_EQ(class_of(SIBYL_Edge(request, wrong)), MPI_ERR_ARG);
    }
    int flag = 1;
    EXPECT_EQ(SIBYL_Test(request, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 0) << "this rank has not arrived";
    trial.edge(0.5);
    EXPECT_EQ(class_of(SIBYL_Edge(request, 0.6)), MPI_ERR_REQUEST);
    trial.arrive();
    EXPECT_EQ(class_of(SIBYL_Arrive(request)), MPI_ERR_REQUEST);
    EXPECT_EQ(class_of(SIBYL_Edge(request, 0.7)), MPI_ERR_REQUEST);
    trial.wait();
    trial.check();
  }
  ASSERT_TRUE(trial.made());
  trial.free();
  EXPECT_FALSE(trial.made());
}

TEST(Persistent, WhatIsWrongAtOneRankIsRefusedAtAll) {
  const Duplicate comm;
  const int rank = rank_in();
  const int last = size_of() - 1;
  std::int64_t send = 0;
  std::vector<std::int64_t> receive(static_cast<std::size_t>(size_of()));
  SIBYL_Request request = SIBYL_REQUEST_NULL;
  EXPECT_EQ(class_of(SIBYL_Gather_init(&send, rank == last ? -1 : 1, MPI_INT64_T, receive.data(), 1,
                                       MPI_INT64_T, 0, comm.get(), MPI_INFO_NULL, &request)),
            rank == last ? MPI_ERR_COUNT : MPI_ERR_OTHER);
  EXPECT_EQ(request, SIBYL_REQUEST_NULL);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : std::map<std::string, std::string>{{"sibyl_algorithm", "fastest"},
                                                                     {"sibyl_order", "x"},
                                                                     {"sibyl_background", "yes"},
                                                                     {"sibyl_outstanding", "-1"}}) {
    MPI_Info_set(info, key.c_str(), rank == 0 ? value.c_str() : "native");
    EXPECT_EQ(class_of(SIBYL_Gather_init(&send, 1, MPI_INT64_T, receive.data(), 1, MPI_INT64_T, 0,
                                         comm.get(), info, &request)),
              MPI_ERR_INFO_VALUE);
    MPI_Info_delete(info, key.c_str());
  }
  MPI_Info_free(&info);
}

// The MPI library's collectives would complain at that rank alone, and leave the others waiting.
TEST(Persistent, WhatIsWrongAtOneRankIsRefusedAtAllWhereTheLibraryServes) {
  const int rank = rank_in();
  const int last = size_of() - 1;
  {
    const TakenBudget taken;
    const Duplicate comm;
    std::int64_t send = rank;
    std::vector<std::int64_t> receive(static_cast<std::size_t>(size_of()), -1);
    SIBYL_Request request = SIBYL_REQUEST_NULL;
    const auto make = [&](int count) {
      return class_of(SIBYL_Gather_init(&send, count, MPI_INT64_T, receive.data(), 1, MPI_INT64_T,
                                        0, comm.get(), MPI_INFO_NULL, &request));
    };
    EXPECT_EQ(make(rank == last ? -1 : 1), rank == last ? MPI_ERR_COUNT : MPI_ERR_OTHER);
    EXPECT_EQ(request, SIBYL_REQUEST_NULL);
    ASSERT_EQ(make(1), MPI_SUCCESS);
    EXPECT_EQ(CommunicatorState::get(comm.get())->private_comm(), MPI_COMM_NULL);
    EXPECT_EQ(SIBYL_Start(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Arrive(&request), MPI_SUCCESS);
    EXPECT_EQ(SIBYL_Wait(&request), MPI_SUCCESS);
    for (int r = 0; rank == 0 && r <= last; ++r) {
      EXPECT_EQ(receive[static_cast<std::size_t>(r)], r);
    }
    EXPECT_EQ(SIBYL_Request_free(&request), MPI_SUCCESS);
  }
}

// Rank 0 is what rank 1 waits for, and completes only with what rank 1 has still to do.
TEST(Persistent, TheThreadGoesOnWhereARankThatHasArrivedCallsForSomethingElse) {
  if (size_of() < 2 || thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  const Duplicate comm;
  for (const char* algorithm : {"linear-synchronised", "linear", "binomial"}) {
    for (const bool background : {false, true}) {
      SCOPED_TRACE(std::string(algorithm) + (background ? ", background" : ""));
      PersistentTrial trial({Collective::gather, algorithm, true, background, 0, 200'000},
                            comm.get());
      for (std::uint64_t k = 0; k < 3; ++k) {
        trial.start(k);
        trial.arrive();
        int word = 0;
        if (rank_in() == 1) MPI_Recv(&word, 1, MPI_INT, 0, 0, comm.get(), MPI_STATUS_IGNORE);
        trial.wait();
        if (rank_in() == 0) MPI_Send(&word, 1, MPI_INT, 1, 0, comm.get());
        trial.check();
      }
    }
  }
}

// In the order of the ranks nobody is asked before the rank before has sent, also where any number
// may be: here the last rank knows that it has not been asked while rank 1 has yet to come.
TEST(Persistent, InRankOrderOneRankIsAskedAtATimeWhateverMayBeUnderWay) {
  if (size_of() < 3) GTEST_SKIP();
  const Duplicate comm;
  const int last = size_of() - 1;
  for (const int outstanding : {0, 1, 7}) {
    SCOPED_TRACE(outstanding);
    PersistentCase now{Collective::gather, "linear-synchronised", false, true, 0, 4};
    now.outstanding = outstanding;
    PersistentTrial trial(now, comm.get());
    ASSERT_TRUE(trial.made());
    trial.start(1);
    int word = 0;
    if (rank_in() == 1) MPI_Recv(&word, 1, MPI_INT, last, 0, comm.get(), MPI_STATUS_IGNORE);
    trial.arrive();
    if (rank_in() == last) {
      for (int look = 0; look < 30; ++look) {
        int flag = 0;
        EXPECT_EQ(SIBYL_Test(trial.request(), &flag), MPI_SUCCESS);
        EXPECT_EQ(flag, 0);
        usleep(1000);
      }
      MPI_Send(&word, 1, MPI_INT, 1, 0, comm.get());
    }
    trial.wait();
    trial.check();
  }
}

TEST(Persistent, ARequestOutlivesItsCommunicatorEvenWhileItIsActive) {
  auto comm = std::make_unique<Duplicate>();
  PersistentTrial trial({Collective::gather, "binomial", true, true, 0, 2000}, comm->get());
  PersistentTrial native({Collective::scatter, "native", true, true, 0, 20}, comm->get());
  trial.start(1);
  native.start(2);
  trial.edge(0.5);
  comm.reset();
  for (std::uint64_t k = 0; k < 3; ++k) {
    trial.arrive();
    native.arrive();
    native.wait();
    trial.wait();
    trial.check();
    native.check();
    trial.start(k);
    native.start(k);
  }
  trial.arrive();
  native.arrive();
  trial.wait();
  native.wait();
}

// By a setting, not by the request's info; one was used, another never, and one is active still.
TEST(Persistent, RequestsLeftToTheLibraryOutliveTheirCommunicator) {
  auto comm = std::make_unique<Served>(Collective::allreduce, nullptr);
  Settings settings = comm->state().settings();
  settings.algorithm[static_cast<std::size_t>(Collective::allreduce)] = serve_natively;
  comm->state().replace_settings(settings);
  std::deque<PersistentTrial> trials;
  for (int k = 0; k < 3; ++k) {
    trials.emplace_back(PersistentCase{Collective::allreduce, "auto", true, true, 0, 30},
                        comm->get());
    EXPECT_EQ(inside(*trials.back().request()).algorithm(), nullptr);
  }
  const auto iterate_one = [](PersistentTrial& trial, std::uint64_t seed) {
    trial.start(seed);
    trial.arrive();
    trial.wait();
    trial.check();
  };
  iterate_one(trials[0], 1);
  trials[2].start(2);
  comm.reset();
  trials[2].arrive();
  trials[2].wait();
  trials[2].check();
  iterate_one(trials[0], 3);
  for (PersistentTrial& trial : trials) trial.free();
}

TEST(Persistent, TagsOfFreedRequestsServeNewOnes) {
  const Duplicate comm;
  Random own = own_random(91);
  const int many = TagBlocks::count + 40;
  for (int i = 0; i < (size_of() > 4 && !long_tests() ? 10 : many); ++i) {
    PersistentTrial trial({Collective::scatter, "linear", true, true, 0, 1}, comm.get());
    iterate(trial, static_cast<std::uint64_t>(i), Edges::some, own);
    EXPECT_NE(inside(*trial.request()).algorithm(), nullptr);
  }
}

}  // namespace
}  // namespace sibyl::test
