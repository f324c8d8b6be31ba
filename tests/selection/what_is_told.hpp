// What the selection serves a call with, in simulated time, where ranks are told when others
// arrive.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arrival/view.hpp"
#include "selection/choose.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/simulator.hpp"

namespace sibyl::test {

using Times = std::vector<double>;

// Who takes part: what is chosen, or, with a name, that algorithm.
struct Contender {
  Collective collective = Collective::reduce;
  std::string_view algorithm;
};

// Hosts of one rank each. Links that carry messages in turn are simulated so, others are shared.
struct Wire {
  Costs costs;
  std::uint64_t eager_bytes = NetworkModel::never_eager;
};

inline Situation situation_of(Collective collective, Rank ranks, std::uint64_t bytes,
                              const Times& told, const Costs& costs) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.operator_use = OperatorUse::predefined;
  now.costs = costs;
  if (!told.empty()) now.spread = std::ranges::max(told) - std::ranges::min(told);
  now.lead = lead_of(told);
  return now;
}

// Absorbed time where ranks are told `told`; empty: nothing. Negative where the MPI library is
// chosen, of which the simulator knows nothing.
inline double absorbed(const Contender& contender, std::uint64_t bytes, const Times& told,
                       const Times& true_times, const Wire& wire) {
  const Collective collective = contender.collective;
  Settings settings;
  if (!contender.algorithm.empty()) {
    const auto rows = algorithms(collective);
    const auto row = std::ranges::find(rows, contender.algorithm, &Algorithm::name);
    settings.algorithm[static_cast<std::size_t>(collective)] =
        static_cast<std::int32_t>(row - rows.begin());
  }
  const Situation now =
      situation_of(collective, static_cast<Rank>(true_times.size()), bytes, told, wire.costs);
  const Algorithm* const row = choose(settings, now);
  if (row == nullptr) return -1;
  const SegmentPlan cut = segments_for(settings, *row, now);
  PlanRequest request{.ranks = now.ranks};
  request.segments = cut.segments;
  request.round_time = cut.round_time;
  request.in_order = cut.in_order;
  if (row->arrivals && !cut.together) request.arrivals = told;
  SimulationOptions options;
  options.network.hockney = {wire.costs.alpha, wire.costs.beta};
  options.network.sharing = !wire.costs.fifo_links;
  options.network.eager_bytes = wire.eager_bytes;
  options.arrivals = true_times;
  const SimulationResult result = simulate(make_plan(*row, request), {.bytes = bytes}, options);
  EXPECT_TRUE(result.ok()) << result.problem;
  return result.absorbed;
}

}  // namespace sibyl::test
