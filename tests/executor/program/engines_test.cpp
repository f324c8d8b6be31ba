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
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

enum class Engine { lockstep, dataflow, pieces };

DatatypeInfo int64_info() {
  DatatypeInfo info;
  EXPECT_EQ(inspect(MPI_INT64_T, info), MPI_SUCCESS);
  return info;
}

// One call of an algorithm on plain vectors, and what it must give.
class Trial {
 public:
  Trial(const Algorithm& algorithm, Rank root, std::int64_t count, MPI_Comm comm,
        bool background = false)
      : algorithm_(algorithm), root_(root), rank_(rank_in(comm)), size_(size_of(comm)) {
    PlanRequest request;
    request.ranks = size_;
    request.root = root;
    if (algorithm.segments) request.segments = 7;
    request.background = background;
    prepare(algorithm, request, rank_, prepared_);
    const bool blocks = prepared_.header.partition == Partition::blocks;
    const bool is_root = rank_ == root;
    const std::int64_t all = count * size_;
    const bool sends_all = algorithm.collective == Collective::scatter && is_root;
    const bool receives_all = algorithm.collective == Collective::gather && is_root;
    send_.resize(static_cast<std::size_t>(sends_all ? all : count));
    receive_.assign(static_cast<std::size_t>(receives_all ? all : count), -1);
    for (std::size_t i = 0; i < send_.size(); ++i) {
      send_[i] = value(sends_all ? 0 : rank_, static_cast<std::int64_t>(i));
    }
    call_.comm = comm;
    call_.op = MPI_SUM;
    call_.block_bytes = static_cast<std::size_t>(count) * 8;
    call_.first_segment = call_.block_bytes / 3;
    call_.send = side(send_, count, blocks && !sends_all);
    call_.receive = side(receive_, count, blocks && !receives_all);
    expected_ = receive_;
    expect(count);
  }

  bool has_lockstep() const { return !prepared_.lockstep.empty(); }
  const Prepared& prepared() const { return prepared_; }

  int run(Engine engine, int tag_base, Workspace& workspace) {
    receive_.assign(receive_.size(), -1);
    call_.tag_base = tag_base;
    if (engine == Engine::pieces) return run_in_pieces(workspace);
    const Frame frame(prepared_, call_, workspace);
    EXPECT_TRUE(frame.ready());
    return engine == Engine::lockstep && has_lockstep()
               ? run_lockstep(prepared_, call_, frame)
               : run_dataflow(prepared_, call_, frame, workspace);
  }
  bool right() const { return receive_ == expected_; }

 private:
  // What is significant from the arrival on is there no sooner.
  int run_in_pieces(Workspace& workspace) {
    const std::vector<std::int64_t> contribution = send_;
    std::fill(send_.begin(), send_.end(), -2);
    Execution execution;
    EXPECT_EQ(execution.bind(prepared_, call_, workspace), MPI_SUCCESS);
    execution.start(false);
    for (int i = 0; i < 3; ++i) {
      execution.progress();
      usleep(static_cast<useconds_t>(300 * (rank_ % 3)));
    }
    std::copy(contribution.begin(), contribution.end(), send_.begin());
    execution.arrive();
    if (rank_ % 2 == 0) {
      execution.finish();
    } else {
      while (!execution.progress()) usleep(20);
    }
    EXPECT_TRUE(execution.ended());
    return execution.error();
  }

  static std::int64_t value(Rank rank, std::int64_t i) { return 1000 * rank + i * i + 7; }

  UserBuffer side(std::vector<std::int64_t>& data, std::int64_t count, bool own_block) const {
    UserBuffer buffer;
    buffer.type = int64_info();
    buffer.count = count;
    buffer.stride = static_cast<MPI_Aint>(count) * 8;
    buffer.base = reinterpret_cast<char*>(data.data());
    if (own_block) buffer.base -= rank_ * buffer.stride;
    return buffer;
  }

  void expect(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      switch (algorithm_.collective) {
        case Collective::exscan:
        case Collective::scan: {
          const Rank end = algorithm_.collective == Collective::exscan ? rank_ : rank_ + 1;
          if (end == 0) break;
          expected_[at] = 0;
          for (Rank r = 0; r < end; ++r) expected_[at] += value(r, i);
          break;
        }
        case Collective::gather:
          if (rank_ != root_) break;
          for (Rank r = 0; r < size_; ++r) {
            expected_[static_cast<std::size_t>(r * count + i)] = value(r, i);
          }
          break;
        case Collective::gatherv:
        case Collective::scatterv:
          break;
        case Collective::reduce:
          if (rank_ != root_) break;
          expected_[at] = 0;
          for (Rank r = 0; r < size_; ++r) expected_[at] += value(r, i);
          break;
        case Collective::scatter:
          expected_[at] = value(0, rank_ * count + i);
          break;
        default:
          FAIL() << "nothing is expected of a collective that is not served";
      }
    }
  }

  const Algorithm& algorithm_;
  Rank root_;
  Rank rank_;
  Rank size_;
  Prepared prepared_;
  CollectiveCall call_;
  std::vector<std::int64_t> send_;
  std::vector<std::int64_t> receive_;
  std::vector<std::int64_t> expected_;
};

TEST(Engines, AgreeOnEveryAlgorithmWhoeverIsLate) {
  const Duplicate comm;
  Workspace workspace;
  std::mt19937 random(static_cast<unsigned>(rank_in()) + 1);
  const int size = size_of();
  int tag = 0;
  for (const Algorithm& algorithm : algorithms()) {
    // Blocks of different sizes do not run through these engines.
    if (algorithm.sizes || !is_served(algorithm.collective)) continue;
    const bool rooted = has_root(algorithm.collective);
    for (const Rank root : {0, size - 1}) {
      if (root != 0 && !rooted) continue;
      std::vector<std::int64_t> counts{3, 5000};
      // Parts of uneven sizes, some of them empty.
      if (algorithm.collective == Collective::reduce) counts.insert(counts.end(), {1, size + 1});
      for (const std::int64_t count : counts) {
        Trial trial(algorithm, root, count, comm.get());
        for (const Engine engine : {Engine::lockstep, Engine::dataflow}) {
          if (size > 8 && (engine == Engine::lockstep) != (count < 1000)) continue;
          SCOPED_TRACE(std::string(name_of(algorithm.collective)) + " " +
                       std::string(algorithm.name) + ", root " + std::to_string(root) + ", " +
                       std::to_string(count) + " elements");
          usleep(random() % 3000);
          ASSERT_EQ(trial.run(engine, tag, workspace), MPI_SUCCESS);
          EXPECT_TRUE(trial.right());
          tag += 64;
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
    if (algorithm.sizes || !is_served(algorithm.collective)) continue;
    for (const bool background : {false, true}) {
      if (background && !algorithm.background) continue;
      for (const std::int64_t count : {3, 5000}) {
        if (size > 5 && count == 3) continue;
        const Rank root = has_root(algorithm.collective) ? size / 2 : 0;
        Trial trial(algorithm, root, count, comm.get(), background);
        SCOPED_TRACE(std::string(name_of(algorithm.collective)) + " " +
                     std::string(algorithm.name) + (background ? ", background" : ""));
        ASSERT_EQ(trial.run(Engine::pieces, tag, workspace), MPI_SUCCESS);
        EXPECT_TRUE(trial.right());
        tag += 64;
      }
    }
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
      const Trial trial(algorithm, 0, 4, comm.get());
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
