// Both engines combine in the order of the program: floating-point sums have the same bits by
// lockstep, as dataflow and in pieces, whoever is late.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "executor/executor.hpp"
#include "executor/program/engines.hpp"
#include "executor/program/execution.hpp"
#include "executor/program/trial.hpp"

namespace sibyl::test {
namespace {

// Numbers of very different sizes, so that nearly every other order of additions shows.
std::vector<double> operands(int rank, int count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 5);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    value = (static_cast<double>(random() % 2000003) - 1000001) / 3;
    value *= static_cast<double>(std::uint64_t{1} << random() % 40);
  }
  return values;
}

UserBuffer vector_of(std::vector<double>& values) {
  UserBuffer buffer;
  EXPECT_EQ(inspect(MPI_DOUBLE, buffer.type), MPI_SUCCESS);
  buffer.count = static_cast<MPI_Count>(values.size());
  buffer.base = reinterpret_cast<char*>(values.data());
  return buffer;
}

// Where the blocks of a reduce-scatter begin: of uneven sizes, some of them empty.
std::vector<MPI_Count> begins_of(int count, int ranks) {
  std::vector<MPI_Count> begins;
  for (int r = 0; r <= ranks; ++r) begins.push_back(MPI_Count{count} * r * r / (ranks * ranks));
  return begins;
}

// The bits of one run; zeros where this rank has no result.
std::vector<std::uint64_t> run(Engine engine, const Prepared& prepared, MPI_Comm comm, int count,
                               int tag_base, Workspace& workspace) {
  std::vector<double> send = operands(rank_in(comm), count);
  std::vector<double> receive(send.size());
  CollectiveCall call;
  call.comm = comm;
  call.op = MPI_SUM;
  call.tag_base = tag_base;
  call.block_bytes = send.size() * sizeof(double);
  call.send = vector_of(send);
  call.receive = vector_of(receive);
  const std::vector<MPI_Count> begins = begins_of(count, size_of(comm));
  if (scatters_sums(prepared.header.collective)) {
    call.block_begins = begins;
    call.leaves_empty_out = true;
    call.receive.base -= begins[static_cast<std::size_t>(rank_in(comm))] * sizeof(double);
  }
  int error = MPI_SUCCESS;
  if (engine == Engine::pieces) {
    Execution execution;
    EXPECT_EQ(execution.bind(prepared, call, workspace), MPI_SUCCESS);
    execution.start(false);
    usleep(static_cast<useconds_t>(200 * (rank_in(comm) % 3)));
    execution.arrive();
    execution.finish();
    error = execution.error();
  } else {
    const Frame frame(prepared, call, workspace);
    EXPECT_TRUE(frame.ready());
    // Where a rank has two messages of a kind in a round there is no lockstep.
    error = engine == Engine::lockstep && !prepared.lockstep.empty()
                ? run_lockstep(prepared, call, frame)
                : run_dataflow(prepared, call, frame, workspace);
  }
  EXPECT_EQ(error, MPI_SUCCESS);
  std::vector<std::uint64_t> bits(receive.size());
  std::memcpy(bits.data(), receive.data(), receive.size() * sizeof(double));
  return bits;
}

TEST(EnginesBits, AreTheSameWhoeverIsLate) {
  const Duplicate comm;
  Workspace workspace;
  std::mt19937 random(static_cast<unsigned>(rank_in()) + 1);
  const int size = size_of();
  int tag = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!combines(algorithm.collective)) continue;
    for (const Rank root : {0, size - 1}) {
      if (root != 0 && !has_root(algorithm.collective)) continue;
      PlanRequest request;
      request.ranks = size;
      request.root = root;
      if (algorithm.segments) request.segments = 7;
      if (algorithm.nodes) request.ranks_per_node = 2;
      Prepared prepared;
      prepare(algorithm, request, rank_in(), prepared);
      for (const int count : {3, 5000}) {
        SCOPED_TRACE(std::string(name_of(algorithm.collective)) + " " +
                     std::string(algorithm.name) + ", root " + std::to_string(root) + ", " +
                     std::to_string(count) + " elements");
        const auto one = [&](Engine engine) {
          usleep(random() % 2000);
          tag += static_cast<int>(prepared.header.tag_span);
          return run(engine, prepared, comm.get(), count, tag, workspace);
        };
        const std::vector<std::uint64_t> first = one(Engine::dataflow);
        EXPECT_TRUE(one(Engine::dataflow) == first) << "again";
        EXPECT_TRUE(one(Engine::pieces) == first) << "in pieces";
        EXPECT_TRUE(one(Engine::lockstep) == first) << "lockstep";
        if (algorithm.collective != Collective::allreduce) continue;
        std::vector<std::uint64_t> of_rank_0 = first;
        MPI_Bcast(of_rank_0.data(), count, MPI_UINT64_T, 0, comm.get());
        EXPECT_TRUE(of_rank_0 == first) << "at all ranks";
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::test
