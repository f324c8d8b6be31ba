// Both engines give the same result for every algorithm, whoever is late.
#include "executor/program/engines.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "executor/executor.hpp"
#include "executor/program/execution.hpp"
#include "executor/program/trial.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

DatatypeInfo int64_info() {
  DatatypeInfo info;
  EXPECT_EQ(inspect(MPI_INT64_T, info), MPI_SUCCESS);
  return info;
}

// Trees of irregular blocks are run along the tree, not by a program.
bool runs_as_program(const Algorithm& algorithm) {
  const bool irregular_tree = has_root(algorithm.collective) && algorithm.sizes;
  return !irregular_tree || algorithm.linear;
}

std::vector<Rank> some_roots(Collective collective) {
  const Rank size = size_of();
  if (!has_root(collective)) return {0};
  std::vector<Rank> roots;
  for (Rank root = 0; root < size; ++root) {
    // A broadcast has to come from anywhere.
    if (root == 0 || root == size - 1 || (collective == Collective::bcast && size <= 8)) {
      roots.push_back(root);
    }
  }
  return roots;
}

// Vectors shorter than they have parts, and parts of uneven sizes.
std::vector<std::int64_t> some_counts(const Algorithm& algorithm) {
  std::vector<std::int64_t> counts{3, 5000};
  if (partition_of(algorithm.collective) == Partition::vector ||
      scatters_sums(algorithm.collective)) {
    counts.insert(counts.end(), {1, size_of() + 1});
  }
  if (algorithm.collective == Collective::barrier) counts = {0};
  return counts;
}

TEST(Engines, AgreeOnEveryAlgorithmWhoeverIsLate) {
  const Duplicate comm;
  Workspace workspace;
  std::mt19937 random(static_cast<unsigned>(rank_in()) + 1);
  const int size = size_of();
  int tag = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!runs_as_program(algorithm)) continue;
    for (const Rank root : some_roots(algorithm.collective)) {
      for (const std::int64_t count : some_counts(algorithm)) {
        for (const bool in_place : {false, true}) {
          if (in_place && !algorithm.in_place) continue;
          for (const bool gaps : {false, true}) {
            Trial trial(algorithm,
                        {.root = root, .count = count, .in_place = in_place, .gaps = gaps},
                        comm.get());
            SCOPED_TRACE(trial.text());
            for (const Engine engine : {Engine::lockstep, Engine::dataflow, Engine::usual}) {
              if (size > 5 && (engine == Engine::lockstep) != (count < 1000)) continue;
              usleep(random() % 500);
              ASSERT_EQ(trial.run(engine, tag, workspace), MPI_SUCCESS);
              EXPECT_TRUE(trial.right()) << "by engine " << static_cast<int>(engine);
              tag += trial.tags();
            }
          }
        }
      }
    }
  }
}

TEST(Engines, CutVectorsAndBlocksInAnyNumberOfSegments) {
  const Duplicate comm;
  Workspace workspace;
  int tag = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.segments || !runs_as_program(algorithm)) continue;
    for (const std::uint32_t segments : {1U, 2U, 13U}) {
      for (const std::int64_t count : {2, 40}) {
        for (const bool gaps : {false, true}) {
          const Rank root = has_root(algorithm.collective) ? size_of() - 1 : 0;
          Trial trial(algorithm, {.root = root, .count = count, .gaps = gaps, .segments = segments},
                      comm.get());
          SCOPED_TRACE(trial.text() + ", " + std::to_string(segments) + " segments");
          ASSERT_EQ(trial.run(Engine::usual, tag, workspace), MPI_SUCCESS);
          EXPECT_TRUE(trial.right());
          tag += trial.tags();
        }
      }
    }
  }
}

TEST(Engines, StepsOfOneRunInPiecesAreThoseOfOneInOneCallWhateverIsGated) {
  const Duplicate comm;
  Workspace workspace;
  const int size = size_of();
  int tag = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!runs_as_program(algorithm)) continue;
    for (const bool background : {false, true}) {
      if (background && !algorithm.background) continue;
      for (const std::int64_t count : {3, 5000}) {
        if (size > 5 && count == 3) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && !algorithm.in_place) continue;
          const Rank root = has_root(algorithm.collective) ? size / 2 : 0;
          Trial trial(algorithm,
                      {.root = root,
                       .count = count,
                       .in_place = in_place,
                       .gaps = in_place != background,
                       .background = background},
                      comm.get());
          SCOPED_TRACE(trial.text());
          ASSERT_EQ(trial.run(Engine::pieces, tag, workspace), MPI_SUCCESS);
          EXPECT_TRUE(trial.right());
          tag += trial.tags();
        }
      }
    }
  }
}

// A rank may change its buffers as soon as its call is over, also where what it was to receive
// meanwhile holds nothing and so is no message.
TEST(Engines, SendsAreOverWhenTheCallIs) {
  if (size_of() < 2) GTEST_SKIP() << "needs a message";
  const Duplicate comm;
  Workspace workspace;
  const int rank = rank_in();
  const auto ranks = static_cast<std::size_t>(size_of());
  constexpr MPI_Count count = 20000;  // more than is sent eagerly
  std::vector<MPI_Count> counts(ranks, 0);
  counts.back() = count;
  const std::vector<MPI_Aint> places(ranks, 0);
  int tag = 0;
  for (const Algorithm& algorithm : algorithms(Collective::allgatherv)) {
    SCOPED_TRACE(algorithm.name);
    PlanRequest request;
    request.ranks = size_of();
    Prepared prepared;
    prepare(algorithm, request, rank, prepared);
    std::vector<std::int64_t> own(count, 7);
    std::vector<std::int64_t> all(count, -1);
    CollectiveCall call;
    call.comm = comm.get();
    call.tag_base = tag;
    call.block_bytes = 8 * count;
    call.leaves_empty_out = true;
    const MPI_Count own_count = counts[static_cast<std::size_t>(rank)];
    call.send = {reinterpret_cast<char*>(own.data()) - rank * 8 * own_count, own_count,
                 static_cast<MPI_Aint>(8 * own_count), int64_info()};
    const IrregularBlocks blocks{reinterpret_cast<char*>(all.data()), int64_info(), counts.data(),
                                 places.data()};
    call.receive.type = int64_info();
    call.receive.irregular = &blocks;
    if (rank != size_of() - 1) usleep(20000);
    const Frame frame(prepared, call, workspace);
    ASSERT_TRUE(frame.ready());
    ASSERT_EQ(prepared.lockstep.empty() ? run_dataflow(prepared, call, frame, workspace)
                                        : run_lockstep(prepared, call, frame),
              MPI_SUCCESS);
    const std::vector<std::int64_t> got = all;
    std::fill(own.begin(), own.end(), -5);
    std::fill(all.begin(), all.end(), -5);
    EXPECT_EQ(got, std::vector<std::int64_t>(count, 7));
    tag += static_cast<int>(prepared.header.tag_span);
  }
}

TEST(Engines, WhatIsGatedOnStartArrivesBeforeTheRankDoes) {
  if (size_of() < 2) GTEST_SKIP() << "needs a message";
  const Duplicate comm;
  Workspace workspace;
  const Algorithm& linear = *find_algorithm(Collective::scatter, "linear");
  PlanRequest request;
  request.ranks = size_of();
  request.background = true;
  Prepared prepared;
  const int rank = rank_in();
  prepare(linear, request, rank, prepared);
  std::vector<std::int64_t> blocks(static_cast<std::size_t>(size_of()), 77);
  std::int64_t own = -1;
  CollectiveCall call;
  call.comm = comm.get();
  call.block_bytes = 8;
  if (rank == 0) call.send = {reinterpret_cast<char*>(blocks.data()), 1, 8, int64_info()};
  call.receive = {reinterpret_cast<char*>(&own) - rank * 8, 1, 8, int64_info()};
  Execution execution;
  ASSERT_EQ(execution.bind(prepared, call, workspace), MPI_SUCCESS);
  execution.start(false);
  if (rank == 0) {
    EXPECT_FALSE(execution.waits()) << "the root's sends need its arrival";
    execution.arrive();
  }
  for (int i = 0; i < 100000 && !execution.progress(); ++i) usleep(20);
  EXPECT_TRUE(execution.ended());
  EXPECT_EQ(own, 77);
}

// The root of a gather has nothing left to do on its arrival but to copy its own block.
TEST(Engines, WhatArrivedBeforeIsThereWhenTheArrivalItselfEndsTheProgram) {
  if (size_of() < 2) GTEST_SKIP() << "needs a message";
  const Duplicate comm;
  Workspace workspace;
  PlanRequest request;
  request.ranks = size_of();
  request.background = true;
  Prepared prepared;
  const int rank = rank_in();
  prepare(*find_algorithm(Collective::gather, "linear-synchronised"), request, rank, prepared);
  DatatypeInfo uncut = int64_info();
  uncut.dense = false;  // blocks go by way of packed mirrors
  const std::int64_t own = 100 + rank;
  std::vector<std::int64_t> blocks(static_cast<std::size_t>(size_of()), -1);
  CollectiveCall call;
  call.comm = comm.get();
  call.block_bytes = 8;
  call.first_segment = 3;
  call.send = {reinterpret_cast<char*>(const_cast<std::int64_t*>(&own)) - rank * 8, 1, 8, uncut};
  if (rank == 0) call.receive = {reinterpret_cast<char*>(blocks.data()), 1, 8, uncut};
  Execution execution;
  ASSERT_EQ(execution.bind(prepared, call, workspace), MPI_SUCCESS);
  execution.start(false);
  if (rank == 0) {
    for (int i = 0; i < 100000 && execution.waits(); ++i) {
      execution.progress();
      usleep(20);
    }
  }
  execution.arrive();
  if (rank != 0) {
    execution.finish();
    return;
  }
  EXPECT_TRUE(execution.ended());
  for (int r = 0; r < size_of(); ++r) {
    EXPECT_EQ(blocks[static_cast<std::size_t>(r)], 100 + r);
  }
}

// One-ported rounds run in lockstep: the least that a small call can cost.
TEST(Engines, LockstepServesEveryOnePortedProgramOfAScan) {
  const Duplicate comm;
  for (const Collective collective : {Collective::exscan, Collective::scan}) {
    for (const Algorithm& algorithm : algorithms(collective)) {
      const Trial trial(algorithm, {.count = 4}, comm.get());
      const Prepared& prepared = trial.prepared();
      if (!prepared.header.one_ported || prepared.program.steps.empty()) continue;
      EXPECT_TRUE(trial.has_lockstep()) << algorithm.name;
    }
  }
}

TEST(Engines, FirstErrorIsReturnedAndTheRemainingMessagesStillTravel) {
  if (size_of() < 2) GTEST_SKIP() << "needs a message";
  const Duplicate comm;
  Workspace workspace;
  const int rank = rank_in();
  const Rank ranks = size_of();
  const Algorithm& binomial = *find_algorithm(Collective::gather, "binomial");
  PlanRequest request;
  request.ranks = ranks;
  Prepared prepared;
  prepare(binomial, request, rank, prepared);
  for (const Engine engine : {Engine::lockstep, Engine::dataflow}) {
    // Rank 1 sends more than its parent has room for; all other blocks must still arrive.
    const std::size_t sent = rank == 1 ? 4 : 2;
    std::vector<std::int64_t> send(sent, rank + 100);
    std::vector<std::int64_t> receive(static_cast<std::size_t>(2 * ranks), -1);
    CollectiveCall call;
    call.comm = comm.get();
    call.tag_base = engine == Engine::lockstep ? 0 : 16;
    call.block_bytes = 8 * sent;
    call.send = {reinterpret_cast<char*>(send.data()) - rank * 8 * static_cast<int>(sent),
                 static_cast<MPI_Count>(sent), static_cast<MPI_Aint>(8 * sent), int64_info()};
    if (rank == 0) {
      call.receive = {reinterpret_cast<char*>(receive.data()), 2, 16, int64_info()};
    }
    const Frame frame(prepared, call, workspace);
    const int error = engine == Engine::lockstep && !prepared.lockstep.empty()
                          ? run_lockstep(prepared, call, frame)
                          : run_dataflow(prepared, call, frame, workspace);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    EXPECT_EQ(error_class, rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (Rank r = 2; rank == 0 && r < ranks; ++r) {
      EXPECT_EQ(receive[static_cast<std::size_t>(2 * r)], r + 100) << "block " << r;
    }
    int flag = 0;
    MPI_Barrier(comm.get());
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm.get(), &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(flag, 0) << "a message was left behind";
    MPI_Barrier(comm.get());  // before a message of the next engine may be seen here
    MPI_Barrier(comm.get());  // nobody sends for the next engine before all have looked
  }
}

}  // namespace
}  // namespace sibyl::test
