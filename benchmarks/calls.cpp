// What a call costs on one rank, where there are no messages: attribute look-up, argument checks,
// choice and plan look-up. Start it without a launcher, or with one rank.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include "arrival/call_lines.hpp"
#include "communicator/communicator_state.hpp"
#include "executor/program/prepared.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"

namespace {

using namespace sibyl;

template <class Function>
void exscan(benchmark::State& state, Function function) {
  const long send = 1;
  long receive = 0;
  for (auto _ : state) {
    function(&send, &receive, 1, MPI_LONG, MPI_BXOR, MPI_COMM_SELF);
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(exscan, native, &PMPI_Exscan);
BENCHMARK_CAPTURE(exscan, sibyl, &SIBYL_Exscan);

void find_state(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(CommunicatorState::get(MPI_COMM_SELF));
}
BENCHMARK(find_state);

void find_program(benchmark::State& state) {
  CommunicatorState* found = CommunicatorState::get(MPI_COMM_SELF);
  if (found == nullptr) {
    state.SkipWithError("no state on MPI_COMM_SELF");
    return;
  }
  const Algorithm* algorithm = find_algorithm(Collective::exscan, "hybrid");
  const SharedView& view = found->arrivals.view();
  for (auto _ : state) {
    benchmark::DoNotOptimize(&found->programs.get({.algorithm = algorithm}, view));
  }
}
BENCHMARK(find_program);

// All that is derived once per communicator, algorithm and root. The argument is the number of
// ranks.
void prepare_program(benchmark::State& state) {
  const Algorithm* algorithm = find_algorithm(Collective::exscan, "hybrid");
  PlanRequest request;
  request.ranks = static_cast<Rank>(state.range(0));
  Prepared prepared;
  for (auto _ : state) {
    prepare(*algorithm, request, request.ranks / 2, prepared);
    benchmark::DoNotOptimize(prepared.lockstep.data());
  }
}
BENCHMARK(prepare_program)->Arg(2)->Arg(36)->Arg(1152);

// What rank 0 looks for where several lines of a program make equal calls: in turns of two, or
// drawn, so that there are none.
void find_turns(benchmark::State& state) {
  const bool in_turns = state.range(0) != 0;
  CallLines lines;
  std::uint64_t drawn = 1;
  std::int64_t call = 0;
  for (auto _ : state) {
    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    ++call;
    lines.note(call, 1 + (in_turns ? call % 2 : static_cast<std::int64_t>(drawn >> 63)));
    benchmark::DoNotOptimize(lines.turns(call));
  }
}
BENCHMARK(find_turns)->Arg(0)->Arg(1);

}  // namespace

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  benchmark::Initialize(&argument_count, arguments);
  const bool wrong = benchmark::ReportUnrecognizedArguments(argument_count, arguments);
  if (!wrong) benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  MPI_Finalize();
  return wrong ? 2 : 0;
}
