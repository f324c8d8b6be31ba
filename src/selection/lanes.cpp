// The model of lanes; see lanes.hpp.
#include "selection/lanes.hpp"

#include <algorithm>

#include "selection/choose_exchange.hpp"
#include "selection/choose_reduce.hpp"

namespace sibyl {
namespace {

// More lanes are more messages, of which the model knows only the average: they have to be clearly
// faster than fewer.
constexpr double clearly_faster = 0.9;

// Ranks of a node, on average.
std::uint32_t per_node(const Situation& now) {
  return static_cast<std::uint32_t>(std::max(now.ranks / now.node_count(), 1));
}

// What a rank needs while so many of its node are at work.
double at_work(double alone, double together, std::uint32_t lanes, std::uint32_t of) {
  if (lanes == 1) return alone;
  return alone + (together - alone) * (lanes - 1) / (of - 1);
}

// Seconds for a byte of a lane within a node: what its leader takes in and hands out.
double within(const Situation& now, std::uint32_t lanes, std::uint32_t of) {
  const Costs& costs = now.costs;
  const double fold = at_work(costs.fold, costs.fold_together, lanes, of);
  const double copy = std::max(fold - costs.gamma, 0.0);
  const double one = now.collective == Collective::reduce      ? fold
                     : now.collective == Collective::allreduce ? fold + copy
                                                               : copy;
  return one * (of - 1);
}

SegmentPlan cut(const Settings& settings, const Algorithm& algorithm, const Situation& now) {
  return now.collective == Collective::reduce ? plan_segments(settings, now.of_nodes())
                                              : exchange_segments(settings, algorithm, now);
}

// What all nodes hold together of what is told to all.
double bytes_of(const Situation& now) {
  const auto bytes = static_cast<double>(now.bytes);
  return now.collective == Collective::allgather ? bytes * now.ranks : bytes;
}

SegmentPlan with_lanes(const Settings& settings, const Algorithm& algorithm, const Situation& all,
                       std::uint32_t lanes, std::uint32_t of) {
  Situation lane = all;
  lane.bytes = (all.bytes + lanes - 1) / lanes;
  lane.largest = (all.largest + lanes - 1) / lanes;
  const Costs& costs = all.costs;
  lane.costs.overhead =
      at_work(costs.overhead, std::max(costs.overhead_together, costs.overhead), lanes, of);
  // Where nothing was measured one rank fills the link.
  const double shared = costs.beta_together != 0 ? costs.beta_together : costs.beta * of;
  lane.costs.beta = at_work(costs.beta, shared, lanes, of);
  SegmentPlan plan = cut(settings, algorithm, lane);
  plan.lanes = lanes;
  plan.whole_time += within(all, lanes, of) * bytes_of(lane);
  return plan;
}

}  // namespace

SegmentPlan lane_segments(const Settings& settings, const Algorithm& algorithm,
                          const Situation& now) {
  const std::uint32_t of = per_node(now);
  if (settings.lanes != 0) {
    return with_lanes(settings, algorithm, now, std::min(settings.lanes, of), of);
  }
  SegmentPlan best = with_lanes(settings, algorithm, now, 1, of);
  if (now.costs.fold == 0) return best;
  for (std::uint32_t lanes = 2; lanes < 2 * of; lanes *= 2) {
    const SegmentPlan plan = with_lanes(settings, algorithm, now, std::min(lanes, of), of);
    if (plan.whole_time < clearly_faster * best.whole_time) best = plan;
  }
  return best;
}

SegmentPlan segments_within(const Settings& settings, const Algorithm& algorithm,
                            const Situation& now, std::uint64_t elements,
                            const Placement& placement, std::int64_t tags) {
  const auto cut_by = [&](const Settings& by) {
    return segments_for(by, algorithm, now).of_elements(elements);
  };
  SegmentPlan plan = cut_by(settings);
  if (plan.lanes == 1) return plan;
  PlanRequest request;
  request.ranks = now.ranks;
  place(algorithm, placement, request);
  Settings fewer = settings;
  while (plan.lanes > 1) {
    request.segments = plan.segments;
    request.lanes = plan.lanes;
    if (algorithm.describe(request).tag_span <= tags) break;
    fewer.lanes = plan.lanes / 2;
    plan = cut_by(fewer);
  }
  return plan;
}

}  // namespace sibyl
