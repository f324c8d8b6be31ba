// Ranks with different environments: rank 0's values hold; a wrong value anywhere is refused
// everywhere.
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "communicator/communicator_state.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// A communicator whose state belongs to a process with an environment of its own.
class OtherProcess {
 public:
  explicit OtherProcess(const Environment& environment) : process_(environment) {
    Process::get();  // makes the keys
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    state_ = new CommunicatorState(process_, comm_);  // owned by the attribute
    MPI_Comm_set_attr(comm_, Process::communicator_key(), state_);
    process_.enter(comm_, state_);
  }
  ~OtherProcess() { MPI_Comm_free(&comm_); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  MPI_Comm comm() const { return comm_; }
  CommunicatorState& state() { return *state_; }

 private:
  Process process_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  CommunicatorState* state_ = nullptr;
};

Environment with(std::string Environment::* member, const char* value) {
  Environment environment;
  environment.*member = value;
  return environment;
}

Environment serving_by(Collective collective, const char* name) {
  Environment environment;
  environment.algorithm[static_cast<std::size_t>(collective)] = name;
  return environment;
}

TEST(Agreement, TheEnvironmentOfRankZeroHolds) {
  OtherProcess other(serving_by(Collective::gather, rank_in() == 0 ? "binomial" : "linear"));
  const int rank = rank_in();
  std::vector<int> all(static_cast<std::size_t>(size_of()), -1);
  ASSERT_EQ(SIBYL_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, other.comm()), MPI_SUCCESS);
  const std::int32_t agreed =
      other.state().settings().algorithm[static_cast<std::size_t>(Collective::gather)];
  ASSERT_GE(agreed, 0);
  EXPECT_EQ(algorithms(Collective::gather)[static_cast<std::size_t>(agreed)].name, "binomial");
}

TEST(Agreement, TheArrivalsOfRankZeroHold) {
  OtherProcess other(with(&Environment::arrivals, rank_in() == 0 ? "fixed:2" : "flat"));
  ASSERT_TRUE(other.state().serves(other.comm(), true));
  const int size = size_of();
  EXPECT_EQ(other.state().arrivals.view()->times.size(), static_cast<std::size_t>(size));
  EXPECT_EQ(other.state().arrivals.view()->spread, size > 1 ? 2.0 : 0.0);
}

TEST(Agreement, WrongArrivalsAnywhereAreRefusedEverywhere) {
  OtherProcess other(with(&Environment::arrivals, rank_in() == size_of() - 1 ? "fixed:-2" : ""));
  EXPECT_FALSE(other.state().serves(other.comm(), true));
  EXPECT_TRUE(other.state().refused());
}

// MPICH 4.0 loses the text of a code that is added to one of its own classes.
bool mpi_keeps_texts() {
  int code = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING + 1] = "kept";
  int length = 0;
  MPI_Add_error_code(MPI_ERR_ARG, &code);
  MPI_Add_error_string(code, text);
  MPI_Error_string(code, text, &length);
  return std::string(text) == "kept";
}

TEST(Agreement, AWrongNameOnOneRankIsAnErrorOnAll) {
  const bool wrong_here = rank_in() == size_of() - 1;
  OtherProcess other(serving_by(Collective::scan, wrong_here ? "no-such-thing" : "doubling"));
  for (int call = 0; call < 2; ++call) {
    const int one = 1;
    int sum = -7;
    const int error = SIBYL_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, other.comm());
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    EXPECT_EQ(error_class, MPI_ERR_ARG);
    EXPECT_EQ(sum, -7);
    if (!mpi_keeps_texts()) continue;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(error, text, &length);
    EXPECT_NE(std::string(text).find("SIBYL_"), std::string::npos) << text;
    if (wrong_here) {
      EXPECT_NE(std::string(text).find("no-such-thing"), std::string::npos) << text;
    }
  }
}

TEST(Agreement, UnderThePreloadAWrongNameMeansNative) {
  OtherProcess other(serving_by(Collective::scan, rank_in() == 0 ? "no-such-thing" : "auto"));
  for (int call = 0; call < 4; ++call) {
    const int one = 1;
    int sum = -7;
    EXPECT_EQ(serve_scan({true, false}, &one, &sum, 1, MPI_INT, MPI_SUM, other.comm()),
              MPI_SUCCESS);
    EXPECT_EQ(sum, rank_in() + 1);
  }
  EXPECT_TRUE(other.state().refused());
  EXPECT_EQ(other.state().private_comm(), MPI_COMM_NULL);
}

TEST(Agreement, NativeOnRankZeroIsNativeOnAll) {
  OtherProcess other(serving_by(Collective::exscan, rank_in() == 0 ? "native" : "hybrid"));
  const int value = 3;
  int sum = -1;
  EXPECT_EQ(SIBYL_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, other.comm()), MPI_SUCCESS);
  EXPECT_EQ(sum, rank_in() == 0 ? -1 : 3 * rank_in());
  EXPECT_EQ(other.state().cached_choice[static_cast<std::size_t>(Collective::exscan)].algorithm,
            nullptr);
}

// Ranks of one node know from the world's set-up on what the library serves on every communicator
// of theirs, but for those whose threads may see the set-up between other calls at each rank.
TEST(Agreement, WhatTheLibraryServesIsKnownBeforeASetUpButForThreads) {
  CommunicatorState* const world = CommunicatorState::get(MPI_COMM_WORLD);
  world->set_up_now(MPI_COMM_WORLD);
  ASSERT_TRUE(world->serves(MPI_COMM_WORLD, true));
  const bool one_thread = thread_level() < MPI_THREAD_MULTIPLE;
  const Duplicate comm;
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  for (const Collective collective :
       {Collective::allreduce, Collective::bcast, Collective::alltoallv, Collective::barrier}) {
    const bool waits = Process::get()->waits_for_window(collective);
    EXPECT_EQ(state.library_serves(collective, comm.get()), one_thread && !waits)
        << name_of(collective);
  }
  EXPECT_FALSE(state.library_serves(Collective::scan, comm.get()));
  ASSERT_TRUE(state.serves(comm.get(), true));
  const bool one_node = state.ranks_per_node() == state.size();
  EXPECT_EQ(state.library_serves(Collective::barrier, comm.get()), one_node);
  Settings by_name = state.settings();
  by_name.algorithm[static_cast<std::size_t>(Collective::barrier)] = 0;
  state.replace_settings(by_name);
  EXPECT_FALSE(state.library_serves(Collective::barrier, comm.get()));
}

// A window that nobody asked for has to be repaid by calls of those that it serves.
TEST(Agreement, TheLibraryServesWhatWaitsForAWindowForAHundredCalls) {
  CommunicatorState* const world = CommunicatorState::get(MPI_COMM_WORLD);
  world->set_up_now(MPI_COMM_WORLD);
  const Duplicate comm;
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  EXPECT_FALSE(state.waits_for_window(Collective::alltoallv, comm.get()));
  EXPECT_FALSE(state.waits_for_window(Collective::scan, comm.get()));
  EXPECT_FALSE(world->waits_for_window(Collective::allreduce, MPI_COMM_WORLD)) << "it is set up";
  if (!Process::get()->waits_for_window(Collective::allreduce)) GTEST_SKIP() << "there is none";
  EXPECT_TRUE(state.waits_for_window(Collective::bcast, comm.get()));
  for (int call = 1; call < 100; ++call) EXPECT_FALSE(state.repays_window()) << call;
  EXPECT_TRUE(state.repays_window());
}

}  // namespace
}  // namespace sibyl::test
