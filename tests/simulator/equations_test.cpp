// The simulator's clock and the published run-time estimates are the same.
//
// Numbers are sums of powers of two, so that nothing is rounded and times can be compared exactly.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "planners/gather/estimates.hpp"
#include "planners/scatter/estimates.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"
#include "simulator/network.hpp"

namespace sibyl {
namespace {

constexpr std::uint64_t block_bytes = 48;

Estimate estimate_of(Rank ranks) {
  return {alpha, beta, static_cast<double>(ranks), static_cast<double>(ranks) * block_bytes};
}

// Who arrives `delay` after all others; no_rank: nobody does.
struct Late {
  Rank rank = no_rank;
  double delay = 0;
};

enum class Order { none, rank, arrival };

struct Case {
  Collective collective;
  const char* algorithm;
  Rank ranks = 2;
  Order order = Order::none;
  bool background = false;
  bool blocking = false;
  bool full_duplex = true;
};

SimulationResult run(const Case& which, Late late) {
  std::vector<double> arrivals(static_cast<std::size_t>(which.ranks), 0.0);
  if (late.rank != no_rank) arrivals[static_cast<std::size_t>(late.rank)] = late.delay;
  std::vector<Rank> order(static_cast<std::size_t>(which.ranks));
  std::iota(order.begin(), order.end(), 0);
  if (which.order == Order::arrival && late.rank != no_rank) {
    // The late rank served last; in a binomial gather, which seats the latest next to the root,
    // first.
    const bool descending =
        gathers(which.collective) && which.algorithm == std::string_view("binomial");
    std::erase(order, late.rank);
    order.insert(descending ? order.begin() : order.end(), late.rank);
  }
  PlanRequest request;
  request.ranks = which.ranks;
  if (which.order != Order::none) request.order = order;
  request.background = which.background;
  SimulationOptions options;
  options.network.hockney = {alpha, beta};
  options.network.full_duplex = which.full_duplex;
  options.arrivals = arrivals;
  options.blocking = which.blocking;
  DataSizes sizes;
  sizes.bytes = block_bytes;
  sizes.first_segment = 16;
  const SimulationResult result = simulate(
      make_plan(*find_algorithm(which.collective, which.algorithm), request), sizes, options);
  EXPECT_EQ(result.problem, "");
  return result;
}

double run_time(const Case& which, Late late = {}) { return run(which, late).run_time; }

constexpr Rank any_ranks[] = {2, 3, 5, 8, 11, 16, 48};
constexpr Rank powers_of_two[] = {2, 4, 8, 16, 64};
constexpr double delays[] = {1.0 / 8, 2, 64, 1024};

TEST(Equations, LinearScatterAndGatherOfEqualArrivalsAreThreeAndFour) {
  for (const Rank ranks : any_ranks) {
    const Estimate of = estimate_of(ranks);
    for (const Order order : {Order::none, Order::arrival}) {
      for (const bool background : {false, true}) {
        const SimulationResult scatter =
            run({Collective::scatter, "linear", ranks, order, background}, {});
        EXPECT_DOUBLE_EQ(scatter.run_time, scatter::linear_run_time(of));
        EXPECT_DOUBLE_EQ(scatter.elapsed, scatter::linear_elapsed(of));
      }
    }
    const SimulationResult gather = run({Collective::gather, "linear", ranks}, {});
    EXPECT_DOUBLE_EQ(gather.run_time, gather::linear_run_time(of));
    EXPECT_DOUBLE_EQ(gather.elapsed, gather::linear_elapsed(of));
  }
}

TEST(Equations, LinearSynchronisedGatherOfEqualArrivalsIsFiveAndSix) {
  for (const Rank ranks : any_ranks) {
    const Estimate of = estimate_of(ranks);
    for (const auto ports : {gather::Ports::half_duplex, gather::Ports::full_duplex}) {
      const SimulationResult result =
          run({Collective::gather, "linear-synchronised", ranks, Order::none, false, false,
               ports == gather::Ports::full_duplex},
              {});
      EXPECT_DOUBLE_EQ(result.run_time, gather::linear_synchronised_run_time(of, ports));
      EXPECT_DOUBLE_EQ(result.elapsed, gather::linear_synchronised_elapsed(of, ports));
    }
  }
}

TEST(Equations, BinomialScatterAndGatherOfEqualArrivalsAreSevenAndEight) {
  for (const Rank ranks : powers_of_two) {
    const Estimate of = estimate_of(ranks);
    for (const Order order : {Order::none, Order::arrival}) {
      for (const bool background : {false, true}) {
        const SimulationResult scatter =
            run({Collective::scatter, "binomial", ranks, order, background}, {});
        EXPECT_DOUBLE_EQ(scatter.run_time, scatter::binomial_run_time(of));
        EXPECT_DOUBLE_EQ(scatter.elapsed, scatter::binomial_elapsed(of));
        const SimulationResult gather =
            run({Collective::gather, "binomial", ranks, order, background}, {});
        EXPECT_DOUBLE_EQ(gather.run_time, gather::binomial_run_time(of));
        EXPECT_DOUBLE_EQ(gather.elapsed, gather::binomial_elapsed(of));
      }
    }
  }
}

TEST(Equations, LinearScatterWithALateRankIsNineToTwelve) {
  for (const Rank ranks : any_ranks) {
    const Estimate of = estimate_of(ranks);
    for (const double delay : delays) {
      const Late leaf{1, delay};
      const Late root{0, delay};
      const Case lin{Collective::scatter, "linear", ranks};
      const Case slin{Collective::scatter, "linear", ranks, Order::arrival};
      const Case bslin{Collective::scatter, "linear", ranks, Order::arrival, true};
      EXPECT_DOUBLE_EQ(run_time(lin, leaf), scatter::linear_late_receiver(of, delay));
      EXPECT_DOUBLE_EQ(run_time(slin, leaf), scatter::sorted_linear_late_receiver(of, delay));
      EXPECT_DOUBLE_EQ(run_time(bslin, leaf), scatter::background_linear_late_receiver(of, delay));
      for (const Case& which : {lin, slin, bslin}) {
        EXPECT_DOUBLE_EQ(run_time(which, root), scatter::linear_late_root(of, delay));
      }
    }
  }
}

TEST(Equations, BinomialScatterWithALateRankIsThirteenToSixteen) {
  for (const Rank ranks : powers_of_two) {
    const Estimate of = estimate_of(ranks);
    for (const double delay : delays) {
      // The usual tree sends to the rank half way round first, that of places to place 1.
      // With blocking calls the root waits there; dataflow would serve others meanwhile, and may be
      // busy with one of them when the late rank comes.
      const Case usual{Collective::scatter, "binomial", ranks, Order::none, false, true};
      const Case placed{Collective::scatter, "binomial", ranks, Order::rank, false, true};
      const Case sbn{Collective::scatter, "binomial", ranks, Order::arrival};
      const Case bsbn{Collective::scatter, "binomial", ranks, Order::arrival, true};
      const double late = scatter::binomial_late_receiver(of, delay);
      EXPECT_DOUBLE_EQ(run_time(usual, {ranks / 2, delay}), late);
      EXPECT_DOUBLE_EQ(run_time(placed, {1, delay}), late);
      EXPECT_DOUBLE_EQ(run_time(sbn, {1, delay}),
                       scatter::sorted_binomial_late_receiver(of, delay));
      EXPECT_DOUBLE_EQ(run_time(bsbn, {1, delay}),
                       scatter::background_binomial_late_receiver(of, delay));
      for (const Case& which : {usual, placed, sbn, bsbn}) {
        EXPECT_DOUBLE_EQ(run_time(which, {0, delay}), scatter::binomial_late_root(of, delay));
      }
    }
  }
}

TEST(Equations, LinearSynchronisedGatherWithALateRankIsSeventeenToTwenty) {
  for (const Rank ranks : any_ranks) {
    const Estimate of = estimate_of(ranks);
    for (const double delay : delays) {
      for (const auto ports : {gather::Ports::half_duplex, gather::Ports::full_duplex}) {
        const bool duplex = ports == gather::Ports::full_duplex;
        const auto of_kind = [&](Order order, bool background) {
          return Case{
              Collective::gather, "linear-synchronised", ranks, order, background, false, duplex};
        };
        const Case ls = of_kind(Order::none, false);
        const Case sls = of_kind(Order::arrival, false);
        const Case bsls = of_kind(Order::arrival, true);
        const Late leaf{1, delay};
        const Late root{0, delay};
        EXPECT_DOUBLE_EQ(run_time(ls, leaf),
                         gather::linear_synchronised_late_leaf(of, delay, ports));
        const double sorted = gather::sorted_linear_synchronised_late_leaf(of, delay, ports);
        EXPECT_DOUBLE_EQ(run_time(sls, leaf), sorted);
        EXPECT_DOUBLE_EQ(run_time(bsls, leaf), sorted);
        const double late_root = gather::linear_synchronised_late_root(of, delay, ports);
        EXPECT_DOUBLE_EQ(run_time(ls, root), late_root);
        EXPECT_DOUBLE_EQ(run_time(sls, root), late_root);
        EXPECT_DOUBLE_EQ(run_time(bsls, root),
                         gather::background_linear_synchronised_late_root(of, delay, ports));
      }
    }
  }
}

TEST(Equations, BinomialGatherWithALateRankIsTwentyOneToTwentyFour) {
  for (const Rank ranks : powers_of_two) {
    const Estimate of = estimate_of(ranks);
    for (const double delay : delays) {
      const Late leaf{1, delay};
      const Late root{0, delay};
      // With blocking calls the root waits for the first child before it takes the next.
      const Case bn{Collective::gather, "binomial", ranks, Order::none, false, true};
      const Case sbn{Collective::gather, "binomial", ranks, Order::arrival};
      const Case bsbn{Collective::gather, "binomial", ranks, Order::arrival, true};
      EXPECT_DOUBLE_EQ(run_time(bn, leaf), gather::binomial_late_leaf(of, delay));
      EXPECT_DOUBLE_EQ(run_time(sbn, leaf), gather::binomial_late_leaf(of, delay));
      const double background = run_time(bsbn, leaf);
      EXPECT_DOUBLE_EQ(background, gather::background_binomial_late_leaf(of, delay));
      EXPECT_GE(background, gather::background_binomial_late_leaf_printed(of, delay));
      EXPECT_LE(background, gather::background_binomial_late_leaf_printed(of, delay) +
                                of.block() / 2 * of.beta);
      EXPECT_DOUBLE_EQ(run_time(bn, root), gather::binomial_late_root(of, delay));
      EXPECT_DOUBLE_EQ(run_time(sbn, root), gather::binomial_late_root(of, delay));
      EXPECT_DOUBLE_EQ(run_time(bsbn, root), gather::background_binomial_late_root(of, delay));
    }
  }
}

TEST(Equations, DataflowTakesOthersBeforeTheLateLeafOfABinomialGather) {
  for (const Rank ranks : powers_of_two) {
    const Estimate of = estimate_of(ranks);
    for (const double delay : delays) {
      const double dataflow = run_time({Collective::gather, "binomial", ranks}, {1, delay});
      EXPECT_LE(dataflow, gather::binomial_late_leaf(of, delay));
      if (delay > gather::binomial_run_time(of)) {
        EXPECT_DOUBLE_EQ(dataflow, delay + of.alpha + of.block() * of.beta);
      }
    }
  }
}

}  // namespace
}  // namespace sibyl
