// Collectives without a root in simulated time: what is sent where blocks differ in size or are cut
// into segments, and the times of algorithms against their closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "planners/ceil_log2.hpp"
#include "planners/doubling_sums.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/network.hpp"

namespace sibyl {
namespace {

SimulationResult run(Collective collective, std::string_view name, PlanRequest request,
                     const DataSizes& sizes) {
  SimulationOptions options;
  options.network.hockney = {alpha, beta};
  const SimulationResult result =
      simulate(make_plan(*find_algorithm(collective, name), request), sizes, options);
  EXPECT_EQ(result.problem, "") << name;
  return result;
}

TEST(SimulatedEverywhere, RoundsTakeWhatTheTablePromises) {
  for (const Rank ranks : {2, 3, 5, 8, 12, 31}) {
    const double p = ranks;
    const double log = ceil_log2(static_cast<std::uint64_t>(ranks));
    const std::uint64_t bytes = 64 * static_cast<std::uint64_t>(ranks);
    const double m = beta * static_cast<double>(bytes);
    const auto time = [&](Collective collective, std::string_view name, std::uint32_t segments,
                          std::uint64_t of) {
      PlanRequest request{.ranks = ranks};
      request.segments = segments;
      return run(collective, name, request, {.bytes = of}).run_time;
    };
    EXPECT_DOUBLE_EQ(time(Collective::allreduce, "ring", 1, bytes), 2 * (p - 1) * (alpha + m / p));
    double others = 0;
    for (const Rank factor : doubling_factors(ranks)) others += factor - 1;
    for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter_block}) {
      const std::uint64_t of = collective == Collective::allreduce ? bytes : 64;
      EXPECT_DOUBLE_EQ(time(collective, "doubling", 1, of), log * alpha + others * m);
    }
    EXPECT_DOUBLE_EQ(time(Collective::bcast, "binomial", 1, bytes), log * (alpha + m));
    EXPECT_DOUBLE_EQ(time(Collective::bcast, "chain", 4, bytes), (4 + p - 2) * (alpha + m / 4));
    EXPECT_DOUBLE_EQ(time(Collective::bcast, "circulant", 8, bytes), (7 + log) * (alpha + m / 8));
    EXPECT_DOUBLE_EQ(time(Collective::allgather, "circulant", 1, 64),
                     log * alpha + (p - 1) * 64 * beta);
    EXPECT_DOUBLE_EQ(time(Collective::allgather, "ring", 4, 64), (p - 1) * (4 * alpha + 64 * beta));
    EXPECT_DOUBLE_EQ(time(Collective::allgather, "all-broadcast", 1, 64),
                     log * alpha + (p - 1) * 64 * beta);
    EXPECT_DOUBLE_EQ(time(Collective::reduce_scatter_block, "ring", 1, 64),
                     (p - 1) * (alpha + 64 * beta));
    EXPECT_DOUBLE_EQ(time(Collective::alltoall, "pairwise", 1, 64), (p - 1) * (alpha + 64 * beta));
    EXPECT_DOUBLE_EQ(time(Collective::barrier, "dissemination", 1, 0), log * alpha);
  }
}

// A block that holds everything takes as long as its broadcast.
TEST(SimulatedEverywhere, AHugeBlockFillsNoRing) {
  constexpr std::uint64_t bytes = 6400;
  for (const Rank ranks : {2, 3, 5, 8, 12, 31}) {
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(ranks), 0);
    sizes[sizes.size() / 2] = bytes;
    PlanRequest request{.ranks = ranks};
    request.segments = 64;
    const double log = ceil_log2(static_cast<std::uint64_t>(ranks));
    const double time =
        run(Collective::allgatherv, "all-broadcast", request, {.bytes = 0, .block_bytes = sizes})
            .run_time;
    EXPECT_LE(time, (63 + log) * (alpha + beta * bytes / 64) + 1e-12) << ranks;
  }
}

TEST(SimulatedEverywhere, BlocksOfDifferentSizesAreSentAsLargeAsTheyAre) {
  constexpr Rank ranks = 5;
  const std::vector<std::uint64_t> sizes{10, 0, 700, 3, 41};
  const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  for (const std::uint32_t segments : {1U, 3U}) {
    PlanRequest request{.ranks = ranks};
    request.segments = segments;
    request.sizes = sizes;
    const DataSizes data{.block_bytes = sizes};
    EXPECT_EQ(run(Collective::allgatherv, "ring", request, data).bytes, (ranks - 1) * all);
    EXPECT_EQ(run(Collective::reduce_scatter, "ring", request, data).bytes, (ranks - 1) * all);
  }
  PlanRequest request{.ranks = ranks};
  request.sizes = sizes;
  const DataSizes data{.block_bytes = sizes};
  for (const std::string_view name : {"circulant", "spread"}) {
    EXPECT_EQ(run(Collective::allgatherv, name, request, data).bytes, (ranks - 1) * all) << name;
  }
  for (const std::string_view name : {"circulant", "pairwise"}) {
    EXPECT_EQ(run(Collective::reduce_scatter, name, request, data).bytes, (ranks - 1) * all)
        << name;
  }
  // All ranks get all sums: what five of them tell each other.
  EXPECT_EQ(run(Collective::reduce_scatter, "doubling", request, data).bytes,
            ranks * (ranks - 1) * all);
}

TEST(SimulatedEverywhere, AnAllToAllSendsEveryPairsBlock) {
  constexpr Rank ranks = 4;
  std::vector<std::uint64_t> sizes;
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < ranks * ranks; ++i) {
    sizes.push_back(7 * i % 23);
    if (i % 5 != 0) all += sizes.back();  // not to oneself
  }
  for (const bool in_place : {false, true}) {
    PlanRequest request{.ranks = ranks, .in_place = in_place};
    request.sizes = sizes;
    const DataSizes data{.block_bytes = sizes};
    EXPECT_EQ(run(Collective::alltoallv, "shifted", request, data).bytes, all);
  }
}

// A ring goes on without the late rank in the background: its block alone is left, a segment behind
// the other.
TEST(SimulatedEverywhere, AnAllgatherAroundARingHasGoneOnWithoutWhoIsLate) {
  constexpr std::uint64_t bytes = 640;
  for (const Rank ranks : {3, 8, 13}) {
    for (const Rank late : {0, 1, ranks - 1}) {
      std::vector<double> arrivals(static_cast<std::size_t>(ranks), 0.0);
      arrivals[static_cast<std::size_t>(late)] = 1000;
      SimulationOptions options;
      options.network.hockney = {alpha, beta};
      options.arrivals = arrivals;
      PlanRequest request{.ranks = ranks};
      request.segments = 16;
      const auto after_the_last = [&](bool background) {
        request.background = background;
        const Algorithm& row = *find_algorithm(Collective::allgather, "ring");
        return simulate(make_plan(row, request), {.bytes = bytes}, options).absorbed;
      };
      const double segment = alpha + beta * bytes / 16;
      EXPECT_NEAR(after_the_last(true), (ranks - 2 + 16) * segment, 1e-9) << ranks << " " << late;
      EXPECT_GE(after_the_last(false), (ranks - 1) * 16 * segment - 1e-9) << ranks << " " << late;
    }
  }
}

// Rank 0 has asked for all blocks by then, in the background.
TEST(SimulatedEverywhere, AnAllgatherWhoseFirstRankIsLateOnlyBroadcasts) {
  constexpr Rank ranks = 8;
  constexpr std::uint64_t bytes = 640;
  std::vector<double> arrivals(ranks, 0.0);
  arrivals[0] = 1000;  // the others take less to gather
  SimulationOptions options;
  options.network.hockney = {alpha, beta};
  options.arrivals = arrivals;
  PlanRequest request{.ranks = ranks};
  const auto after_the_last = [&](bool background) {
    request.background = background;
    const Algorithm& row = *find_algorithm(Collective::allgather, "gather-broadcast");
    return simulate(make_plan(row, request), {.bytes = bytes}, options).absorbed;
  };
  const double gather = (ranks - 1) * (2 * alpha + beta * bytes) + alpha;
  const double broadcast = 3 * (alpha + beta * bytes * ranks);
  EXPECT_NEAR(after_the_last(true), broadcast, 1e-9);
  EXPECT_GT(after_the_last(false), broadcast + beta * bytes * (ranks - 1));
  EXPECT_LE(after_the_last(false), gather + broadcast + 1e-9);
}

TEST(SimulatedEverywhere, AnAllreduceThatKnowsTheLateRankTakesHalfOfAFlatOne) {
  constexpr Rank ranks = 8;
  constexpr std::uint64_t bytes = 256 * 256;
  const double vector = beta * bytes;
  std::vector<double> arrivals(ranks, 0.0);
  arrivals[3] = 3 * vector;
  PlanRequest request{.ranks = ranks};
  request.segments = 256;
  request.round_time = alpha + vector / 256;
  SimulationOptions options;
  options.network.hockney = {alpha, beta};
  options.arrivals = arrivals;
  const Algorithm& row = *find_algorithm(Collective::allreduce, "clairvoyant");
  const double flat = simulate(make_plan(row, request), {.bytes = bytes}, options).absorbed;
  request.arrivals = arrivals;
  const double knowing = simulate(make_plan(row, request), {.bytes = bytes}, options).absorbed;
  EXPECT_LT(knowing, 1.15 * (vector + 256 * alpha));
  EXPECT_LT(knowing, 0.75 * flat);
}

// What is left is the late rank's vector and the result, and the ring's last hops.
TEST(SimulatedEverywhere, APreReducedRingTakesAVectorsTimeAfterTheLateRank) {
  constexpr Rank ranks = 8;
  constexpr std::uint64_t bytes = 7 * 64 * 64;
  const double vector = beta * bytes;
  const Algorithm& row = *find_algorithm(Collective::allreduce, "pre-reduced-ring");
  PlanRequest request{.ranks = ranks};
  request.segments = 7 * 16;
  request.round_time = alpha + vector / request.segments;
  const auto absorbed = [&](const std::vector<double>& told, const std::vector<double>& true_ones) {
    SimulationOptions options;
    options.network.hockney = {alpha, beta};
    options.arrivals = true_ones;
    request.arrivals = told;
    return simulate(make_plan(row, request), {.bytes = bytes}, options).absorbed;
  };
  const std::vector<double> nobody(ranks, 0.0);
  std::vector<double> one = nobody;
  one[3] = 3 * vector;
  std::vector<double> other = nobody;
  other[6] = 3 * vector;
  const double bound = vector + request.segments * alpha;
  const double flat = absorbed({}, nobody);
  EXPECT_LT(absorbed(one, one), 1.15 * bound);
  EXPECT_LT(absorbed(one, one), 0.62 * absorbed({}, one));
  EXPECT_LT(absorbed(one, other), 1.1 * flat);
  // Where nobody is late what was to come late comes in while results go out.
  EXPECT_LT(absorbed(one, nobody), 1.13 * flat);
}

}  // namespace
}  // namespace sibyl
