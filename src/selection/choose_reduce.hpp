// Reduce: whether Clairvoyant pays, into how many segments it cuts the vector, and how long its
// rounds are, from what messages and operator cost and from the arrival pattern.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// A round takes no less, where the costs are not known either.
constexpr double shortest_round = 1e-9;  // seconds

// wants_costs() of this collective.
bool reduce_wants_costs(const Settings& settings, const Situation& situation);

// How Clairvoyant is to run.
SegmentPlan plan_segments(const Settings& settings, const Situation& situation);

// Whether ranks are planned for as if they came at once. `spread` and `lead` as in Situation.
inline bool plans_together(const SegmentPlan& plan, double spread, double lead) {
  if (!plan.for_one) return plan.in_order && spread <= plan.whole_time;
  const double parts = plan.in_order ? 1 : 0.5;
  const bool stands_out = lead >= spread / 2;
  return !stands_out || lead <= parts * plan.whole_time;
}

// The plan where ranks arrive so, if it was made before that was known.
SegmentPlan at_arrivals(SegmentPlan plan, Rank ranks, double spread, double lead);

// The choice where the settings leave it open; nullptr is the MPI library's own.
const Algorithm* choose_reduce(const Settings& settings, const Situation& situation);

}  // namespace sibyl
