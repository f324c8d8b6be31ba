// What generating a Clairvoyant schedule costs: the instances of table 1 and figures 7 and 8 of
// Improving Clairvoyant (P = N = 4 to 512, arrivals uniform in [0, P + 0.1] with a random root, or
// the last process late by N with root 0; round time uniform in [0.001, 1]) and larger ones, one
// random instance per iteration. `write` is the bound: writing as many events.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "planners/clairvoyant/exchange.hpp"
#include "sibyl/clairvoyant.hpp"

namespace {

using namespace sibyl;

enum class Case : std::uint8_t { uniform, skewed };
enum class Pattern : std::uint8_t { flat, one_late, uniform };

struct Instance {
  std::vector<double> arrivals;
  ClairvoyantRequest request;
  Instance(Case which, std::int64_t ranks, std::int64_t segments, std::uint64_t seed) {
    SplitMix64 random(seed);
    const auto p = static_cast<std::size_t>(ranks);
    arrivals.assign(p, 0.0);
    if (which == Case::uniform) {
      for (double& time : arrivals) time = (static_cast<double>(ranks) + 0.1) * random.next_unit();
      request.root = static_cast<Rank>(random.next() % p);
    } else {
      arrivals.back() = static_cast<double>(segments);
    }
    request.arrivals = arrivals;
    request.segments = static_cast<std::uint32_t>(segments);
    request.round_time = 0.001 + 0.999 * random.next_unit();
  }
};

void generate(benchmark::State& state, ClairvoyantGenerator generator, Case which) {
  std::uint64_t seed = 0;
  std::size_t events = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Instance instance(which, state.range(0), state.range(1), ++seed);
    state.ResumeTiming();
    const ClairvoyantSchedule schedule = make_clairvoyant(generator, instance.request);
    benchmark::DoNotOptimize(schedule.events.data());
    events += schedule.events.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}

void one_rank(benchmark::State& state, Case which) {
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Instance instance(which, state.range(0), state.range(1), ++seed);
    const auto rank = static_cast<Rank>(seed * 7919 % static_cast<std::uint64_t>(state.range(0)));
    state.ResumeTiming();
    const ClairvoyantSchedule schedule =
        make_clairvoyant(ClairvoyantGenerator::fast, instance.request, rank);
    benchmark::DoNotOptimize(schedule.events.data());
  }
}

void write(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0) * state.range(1));
  for (auto _ : state) {
    ClairvoyantEvents events;
    ClairvoyantEvent* const room = events.room(count);
    for (std::size_t e = 0; e < count; ++e) {
      const auto number = static_cast<std::uint32_t>(e);
      room[e] = {number, static_cast<Rank>(number), 0, number};
    }
    events.extend(count);
    benchmark::DoNotOptimize(events.data());
    benchmark::ClobberMemory();
  }
}

void paper_sizes(benchmark::internal::Benchmark* run, std::int64_t most) {
  for (std::int64_t size = 4; size <= most; size *= 2) run->Args({size, size});
  run->Unit(benchmark::kMillisecond);
}
void all_sizes(benchmark::internal::Benchmark* run) {
  paper_sizes(run, 2048);
  run->Args({4096, 64})->Args({65536, 16});
}

BENCHMARK_CAPTURE(generate, fast_uniform, ClairvoyantGenerator::fast, Case::uniform)
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(generate, fast_skewed, ClairvoyantGenerator::fast, Case::skewed)
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(generate, segment_tree_uniform, ClairvoyantGenerator::segment_tree, Case::uniform)
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(generate, segment_tree_skewed, ClairvoyantGenerator::segment_tree, Case::skewed)
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(generate, linear_uniform, ClairvoyantGenerator::linear, Case::uniform)
    ->Apply([](auto* run) { paper_sizes(run, 256); });
BENCHMARK_CAPTURE(generate, linear_skewed, ClairvoyantGenerator::linear, Case::skewed)
    ->Apply([](auto* run) { paper_sizes(run, 512); });
BENCHMARK_CAPTURE(generate, pairing_heap_uniform, ClairvoyantGenerator::pairing_heap, Case::uniform)
    ->Apply([](auto* run) { paper_sizes(run, 128); });
BENCHMARK_CAPTURE(generate, pairing_heap_skewed, ClairvoyantGenerator::pairing_heap, Case::skewed)
    ->Apply([](auto* run) { paper_sizes(run, 128); });
BENCHMARK_CAPTURE(one_rank, uniform, Case::uniform)->Apply(all_sizes);
BENCHMARK_CAPTURE(one_rank, skewed, Case::skewed)->Apply(all_sizes);
BENCHMARK(write)->Apply(all_sizes);

// All at once, one rank late by two vectors, uniform over the time of a vector.
std::vector<double> arrivals_of(Pattern pattern, std::size_t ranks, std::uint32_t segments) {
  std::vector<double> arrivals(ranks, 0.0);
  SplitMix64 random(1);
  if (pattern == Pattern::one_late) arrivals[ranks / 3] = 2.0 * segments;
  if (pattern == Pattern::uniform) {
    for (double& time : arrivals) time = segments * random.next_unit();
  }
  return arrivals;
}

// What `make` makes of the arrivals, again and again.
template <class Make>
void make_for(benchmark::State& state, Pattern pattern, Make make) {
  const auto segments = static_cast<std::uint32_t>(state.range(1));
  const std::vector<double> arrivals =
      arrivals_of(pattern, static_cast<std::size_t>(state.range(0)), segments);
  std::size_t events = 0;
  for (auto _ : state) {
    const ClairvoyantEvents made = make(arrivals, segments);
    benchmark::DoNotOptimize(made.data());
    events += made.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}

// An allreduce, and the reduce that its own generator makes of the same arrivals.
void exchange(benchmark::State& state, Pattern pattern) {
  make_for(state, pattern, [](const auto& arrivals, std::uint32_t segments) {
    return make_exchange({arrivals, segments, 1.0, no_rank});
  });
}
void reduce(benchmark::State& state, Pattern pattern) {
  make_for(state, pattern, [](const auto& arrivals, std::uint32_t segments) {
    return make_clairvoyant(ClairvoyantGenerator::fast, {arrivals, segments, 1.0, 0}).events;
  });
}
void exchange_sizes(benchmark::internal::Benchmark* run) {
  run->Args({8, 64})->Args({48, 64})->Args({48, 240})->Args({512, 512});
  run->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(exchange, flat, Pattern::flat)->Apply(exchange_sizes);
BENCHMARK_CAPTURE(exchange, one_late, Pattern::one_late)->Apply(exchange_sizes);
BENCHMARK_CAPTURE(exchange, uniform, Pattern::uniform)->Apply(exchange_sizes);
BENCHMARK_CAPTURE(reduce, flat, Pattern::flat)->Apply(exchange_sizes);
BENCHMARK_CAPTURE(reduce, one_late, Pattern::one_late)->Apply(exchange_sizes);
BENCHMARK_CAPTURE(reduce, uniform, Pattern::uniform)->Apply(exchange_sizes);

}  // namespace
