// A communicator's state: when it is set up, what it leaves alone, how it ends.
#include "communicator/communicator_state.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/collectives.hpp"
#include "communicator/served.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr Caller preload{true, false};

int scan_sum(MPI_Comm comm, Caller caller = {}) {
  const int one = 1;
  int sum = 0;
  EXPECT_EQ(serve_scan(caller, &one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  return sum;
}

TEST(CommunicatorState, IsSetUpAtTheFirstCallOfTheApi) {
  const Duplicate comm;
  EXPECT_FALSE(served(comm.get()));
  EXPECT_EQ(scan_sum(comm.get()), rank_in() + 1);
  EXPECT_TRUE(served(comm.get()));
}

TEST(CommunicatorState, IsSetUpAtTheThirdCallUnderThePreload) {
  const Duplicate comm;
  for (int call = 1; call <= 4; ++call) {
    EXPECT_EQ(scan_sum(comm.get(), preload), rank_in() + 1);
    EXPECT_EQ(served(comm.get()), call >= 3) << "after call " << call;
  }
}

TEST(CommunicatorState, IsNotInheritedByADuplicate) {
  const Duplicate comm;
  EXPECT_EQ(scan_sum(comm.get()), rank_in() + 1);
  const Duplicate copy(comm.get());
  EXPECT_FALSE(served(copy.get()));
  EXPECT_NE(CommunicatorState::get(copy.get()), CommunicatorState::get(comm.get()));
  EXPECT_EQ(scan_sum(copy.get()), rank_in() + 1);
}

TEST(CommunicatorState, ServesSplitCommunicatorsAndGroupsOfOne) {
  const int rank = rank_in();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // in reverse order
  EXPECT_EQ(scan_sum(half), rank_in(half) + 1);
  EXPECT_EQ(scan_sum(MPI_COMM_SELF), 1);
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Comm_split(half, rank, 0, &alone);
  EXPECT_EQ(scan_sum(alone), 1);
  MPI_Comm_free(&half);  // while its state is alive, and another communicator came from it
  EXPECT_EQ(scan_sum(alone), 1);
  MPI_Comm_free(&alone);
}

TEST(CommunicatorState, KeepsTheUsersErrorHandler) {
  const Duplicate comm;
  for (const MPI_Errhandler wanted : {MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL}) {
    const Duplicate copy(comm.get());
    MPI_Comm_set_errhandler(copy.get(), wanted);
    EXPECT_EQ(scan_sum(copy.get()), rank_in() + 1);
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(copy.get(), &now);
    EXPECT_EQ(now, wanted);
    MPI_Errhandler_free(&now);
  }
}

int callbacks = 0;
int count_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  ++callbacks;
  *flag = 1;
  return MPI_SUCCESS;
}
int count_delete(MPI_Comm, int, void*, void*) {
  ++callbacks;
  return MPI_SUCCESS;
}

TEST(CommunicatorState, RunsNoneOfTheUsersAttributeCallbacks) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(&count_copy, &count_delete, &key, nullptr);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &callbacks);
  callbacks = 0;
  EXPECT_EQ(scan_sum(comm), rank_in() + 1);
  EXPECT_TRUE(served(comm));
  EXPECT_EQ(callbacks, 0);
  MPI_Comm_free(&comm);
  EXPECT_EQ(callbacks, 1) << "the deletion of the user's own attribute, once";
  MPI_Comm_free_keyval(&key);
}

TEST(CommunicatorState, LeavesTheUsersMessagesAlone) {
  const Duplicate comm;
  const int rank = rank_in();
  const int size = size_of();
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  // The first round meets the set-up, the second one a communicator that is served.
  for (int round = 0; round < 2; ++round) {
    int got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm.get(), &request);
    EXPECT_EQ(scan_sum(comm.get()), rank + 1);
    std::vector<int> all(static_cast<std::size_t>(size), -1);
    EXPECT_EQ(SIBYL_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm.get()), MPI_SUCCESS);
    const int sent = 100 + rank;
    MPI_Send(&sent, 1, MPI_INT, right, 5 + round, comm.get());
    MPI_Status status;
    MPI_Wait(&request, &status);
    EXPECT_EQ(got, 100 + left);
    EXPECT_EQ(status.MPI_TAG, 5 + round);
    EXPECT_EQ(status.MPI_SOURCE, left);
  }
}

TEST(CommunicatorState, PassesIntercommunicatorsThrough) {
  const int rank = rank_in();
  const int size = size_of();
  if (size < 2) GTEST_SKIP() << "two groups need two ranks";
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter);
  const bool root_group = rank % 2 == 0;
  int remote = 0;
  MPI_Comm_remote_size(inter, &remote);
  std::vector<int> all(static_cast<std::size_t>(remote), -1);
  const int root = !root_group ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  EXPECT_EQ(SIBYL_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, root, inter), MPI_SUCCESS);
  if (rank == 0) {
    for (int i = 0; i < remote; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 2 * i + 1);
  }
  EXPECT_FALSE(served(inter));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

void ask_for_trees(CommunicatorState& state) {
  Settings settings = state.settings();
  const auto tree = find_algorithm(Collective::scatterv, "ordered-tree") -
                    algorithms(Collective::scatterv).data();
  settings.algorithm[static_cast<std::size_t>(Collective::scatterv)] =
      static_cast<std::int32_t>(tree);
  state.replace_settings(settings);
}

TEST(CommunicatorState, WrapsItsTags) {
  const Duplicate comm;
  EXPECT_EQ(scan_sum(comm.get()), rank_in() + 1);
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  ask_for_trees(state);
  state.skip_to_last_tags();
  const std::vector<int> counts(static_cast<std::size_t>(size_of()), 1);
  std::vector<int> displacements(counts.size());
  std::iota(displacements.begin(), displacements.end(), 0);
  for (int i = 0; i < 4; ++i) {
    int own = -1;
    const std::vector<int> all(counts.size(), 42 + i);
    EXPECT_EQ(SIBYL_Scatterv(all.data(), counts.data(), displacements.data(), MPI_INT, &own, 1,
                             MPI_INT, 0, comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(own, 42 + i);
  }
}

// The root's messages of later calls are there before the one that rank 3 waits for.
TEST(CommunicatorState, LetsNoCallTakeWhatHasItsTagsARoundLater) {
  const int rank = rank_in();
  if (size_of() < 4) GTEST_SKIP() << "the tree is to have a rank that passes blocks on";
  const Duplicate comm;
  EXPECT_EQ(scan_sum(comm.get()), rank + 1);
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  ask_for_trees(state);
  state.skip_to_last_tags();
  state.next_tree_tags();
  const int first = state.next_tree_tags();
  state.limit_tags(first + 2 * CallTags::of_blocks);  // two calls make a round
  for (int call = 0; call < 3; ++call) {
    const std::size_t largest = call == 0 ? 2 : 3;  // of ranks 2 and 3 it has the other's block
    if (call == 0 && rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::vector<int> counts(static_cast<std::size_t>(size_of()), 1);
    counts[largest] = 2;
    std::vector<int> displacements(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
    const std::vector<int> all(counts.size() + 1, 42 + call);
    std::vector<int> own(2, -1);
    EXPECT_EQ(SIBYL_Scatterv(all.data(), counts.data(), displacements.data(), MPI_INT, own.data(),
                             counts[static_cast<std::size_t>(rank)], MPI_INT, 0, comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(own.front(), 42 + call);
  }
}

TEST(CommunicatorState, KeepsTheTagsOfItsCallsApart) {
  for (const std::int64_t limit :
       {std::int64_t{24574}, std::int64_t{32767}, std::int64_t{1} << 20U, std::int64_t{1} << 31U}) {
    for (const std::int64_t number : {0LL, 7LL, 123456789012LL}) {
      CallTags tags;
      tags.limit(limit);
      tags.begin_at(number);
      std::vector<std::pair<std::int64_t, std::int64_t>> taken;
      for (std::size_t i = 0; i < collective_count; ++i) {
        const auto collective = static_cast<Collective>(i);
        taken.emplace_back(tags.of(collective), tags.of(collective) + tags.room_of(collective));
      }
      for (int call = 0; call < 40; ++call) {
        const std::int64_t tag = tags.next_of_tree();
        taken.emplace_back(tag, tag + CallTags::of_blocks);
      }
      std::ranges::sort(taken);
      EXPECT_GE(taken.front().first, 0);
      EXPECT_LE(taken.back().second, limit);
      EXPECT_EQ(tags.end(), limit);
      for (std::size_t i = 1; i < taken.size(); ++i) {
        EXPECT_LE(taken[i - 1].second, taken[i].first);
      }
    }
  }
}

// A message of a failed call may still lie where the next communicator begins.
TEST(CommunicatorState, BeginsElsewhereOnTheNextCommunicatorWhereThereIsRoom) {
  CallTags one;
  CallTags other;
  for (CallTags* tags : {&one, &other}) tags->limit(std::int64_t{1} << 20U);
  one.begin_at(4);
  other.begin_at(5);
  const std::int64_t all = one.of(Collective::barrier) + CallTags::of_blocks;
  EXPECT_GE(other.of(Collective::exscan), all);
}

TEST(CommunicatorState, TakesAsManyTagsForVectorsAsThereIsRoomFor) {
  CallTags tags;
  tags.limit(24574);
  EXPECT_EQ(tags.of_a_vector(), 1024);
  tags.limit(std::int64_t{1} << 20U);
  EXPECT_EQ(tags.of_a_vector(), 4096);
  EXPECT_EQ(tags.room_of(Collective::bcast), 4096);
  EXPECT_EQ(tags.room_of(Collective::allgatherv), 4096);
  EXPECT_EQ(tags.room_of(Collective::alltoallv), 4096);
  EXPECT_EQ(tags.room_of(Collective::gather), CallTags::of_blocks);
}

// Around a ring all messages of a rank go to the next one, so that they are as many as ranks.
TEST(CommunicatorState, TakesMoreTagsForACallThanAnyAlgorithmSpansUncut) {
  CallTags fewest;
  fewest.limit(24574);
  CallTags most;
  most.limit(std::int64_t{1} << 31U);
  for (const Algorithm& algorithm : algorithms()) {
    for (const Rank ranks : {1, 2, 3, 7, 48, 500, 1000, 4096}) {
      // On two levels an allgather is a ring of nodes, here of one rank each.
      const bool ring =
          algorithm.name == "ring" || algorithm.name == "scatter-allgather" ||
          (algorithm.name == "two-level" && algorithm.collective != Collective::allreduce);
      if (ring && ranks > 500) continue;
      if (algorithm.arrivals && ranks > 48) continue;  // describing takes as long as planning
      PlanRequest request;
      request.ranks = ranks;
      const std::int64_t span = algorithm.describe(request).tag_span;
      EXPECT_LE(span, fewest.room_of(algorithm.collective))
          << name_of(algorithm.collective) << " " << algorithm.name << " of " << ranks;
      EXPECT_LE(span, most.room_of(algorithm.collective));
    }
  }
}

// What has more messages between two ranks than a call has tags would take those of others.
TEST(CommunicatorState, LeavesProgramsOfTooManyMessagesToTheMpiLibrary) {
  if (size_of() < 2) GTEST_SKIP() << "needs a message";
  const Duplicate comm;
  EXPECT_EQ(scan_sum(comm.get()), rank_in() + 1);
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  const auto most = static_cast<std::uint32_t>(state.tags_of_a_call(Collective::bcast));
  const Algorithm* chain = find_algorithm(Collective::bcast, "chain");
  const int rank = rank_in();
  for (const std::uint32_t segments : {most, most + 1}) {
    const SegmentPlan cut{segments};
    EXPECT_EQ(program_for(state, chain, cut, 0, false) != nullptr, segments == most) << segments;
    Settings settings = state.settings();
    settings.algorithm[static_cast<std::size_t>(Collective::bcast)] =
        static_cast<std::int32_t>(chain - algorithms(Collective::bcast).data());
    settings.segments = segments;
    state.replace_settings(settings);
    std::vector<int> data(2 * most, rank == 0 ? 5 : -1);
    EXPECT_EQ(SIBYL_Bcast(data.data(), static_cast<int>(data.size()), MPI_INT, 0, comm.get()),
              MPI_SUCCESS);
    EXPECT_EQ(data, std::vector<int>(2 * most, 5));
  }
}

TEST(CommunicatorState, ForgetsTheOldestProgramWhenTheCacheIsFull) {
  // Every root, both ways of two collectives, twice: more keys than the cache holds at 16 ranks.
  const Duplicate comm;
  const int rank = rank_in();
  const int size = size_of();
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  for (int pass = 0; pass < (size > 8 ? 1 : 2); ++pass) {
    for (int key = 0; key < 4 * size; ++key) {
      const int root = key % size;
      const bool in_place = key / size % 2 == 1 && rank == root;
      const int mine = 10 * key + rank;
      if (key / size < 2) {
        if (in_place) all[static_cast<std::size_t>(rank)] = mine;
        ASSERT_EQ(SIBYL_Gather(in_place ? MPI_IN_PLACE : &mine, 1, MPI_INT, all.data(), 1, MPI_INT,
                               root, comm.get()),
                  MPI_SUCCESS);
        for (int r = 0; rank == root && r < size; ++r) {
          ASSERT_EQ(all[static_cast<std::size_t>(r)], 10 * key + r);
        }
      } else {
        for (int r = 0; r < size; ++r) all[static_cast<std::size_t>(r)] = 7 * key + r;
        int own = -1;
        ASSERT_EQ(SIBYL_Scatter(all.data(), 1, MPI_INT, in_place ? MPI_IN_PLACE : &own, 1, MPI_INT,
                                root, comm.get()),
                  MPI_SUCCESS);
        ASSERT_EQ(own, in_place ? -1 : 7 * key + rank);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::test
