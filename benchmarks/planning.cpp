// What planning, proving and exporting cost, without any MPI. The argument is the number of ranks.
#include <benchmark/benchmark.h>

#include <string_view>

#include "schedule/dependencies.hpp"
#include "schedule/export_json.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"

namespace {

using namespace sibyl;

PlanRequest request_for(const benchmark::State& state) {
  PlanRequest request;
  request.ranks = static_cast<Rank>(state.range(0));
  return request;
}

// The program of one rank, as at the first call on a communicator.
void plan_one_rank(benchmark::State& state, Collective collective, std::string_view name) {
  const Algorithm* algorithm = find_algorithm(collective, name);
  const PlanRequest request = request_for(state);
  Program program;
  for (auto _ : state) {
    algorithm->plan(request, request.ranks / 2, program);
    benchmark::DoNotOptimize(program.steps.data());
  }
}
BENCHMARK_CAPTURE(plan_one_rank, exscan_hybrid, Collective::exscan, "hybrid")
    ->Arg(36)
    ->Arg(1152)
    ->Arg(1 << 20);
BENCHMARK_CAPTURE(plan_one_rank, gather_binomial, Collective::gather, "binomial")
    ->Arg(36)
    ->Arg(1152);

void derive(benchmark::State& state, Collective collective, std::string_view name) {
  const Algorithm* algorithm = find_algorithm(collective, name);
  const PlanRequest request = request_for(state);
  Program program;
  algorithm->plan(request, request.ranks / 2, program);
  const PlanHeader header = algorithm->describe(request);
  Dependencies dependencies;
  for (auto _ : state) {
    derive_dependencies(header, program, dependencies);
    benchmark::DoNotOptimize(dependencies.predecessor.data());
  }
}
BENCHMARK_CAPTURE(derive, exscan_hybrid, Collective::exscan, "hybrid")->Arg(36)->Arg(1152);

void plan_all_ranks(benchmark::State& state, Collective collective, std::string_view name) {
  const Algorithm* algorithm = find_algorithm(collective, name);
  const PlanRequest request = request_for(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_plan(*algorithm, request));
  }
}
BENCHMARK_CAPTURE(plan_all_ranks, exscan_hybrid, Collective::exscan, "hybrid")->Arg(36)->Arg(1152);

void prove(benchmark::State& state, Collective collective, std::string_view name) {
  const Plan plan = make_plan(*find_algorithm(collective, name), request_for(state));
  Verifier verifier;
  for (auto _ : state) {
    const VerifyResult result = verifier.verify(plan);
    if (!result.ok) {
      state.SkipWithError(result.problem.c_str());
      break;
    }
  }
}
BENCHMARK_CAPTURE(prove, exscan_hybrid, Collective::exscan, "hybrid")->Arg(36)->Arg(1152);
BENCHMARK_CAPTURE(prove, gather_binomial, Collective::gather, "binomial")->Arg(36)->Arg(1152);

void write_json(benchmark::State& state) {
  const Plan plan = make_plan(*find_algorithm(Collective::exscan, "hybrid"), request_for(state));
  for (auto _ : state) benchmark::DoNotOptimize(export_json(plan));
}
BENCHMARK(write_json)->Arg(36)->Arg(1152);

}  // namespace
