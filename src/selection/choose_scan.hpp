// The choice among scans, a part of choose.hpp.
#pragma once

#include "selection/choose.hpp"
#include "selection/ranking.hpp"

namespace sibyl {

// The exclusive and the inclusive scans by the model; there is always a best.
Ranking rank_exscans(const Situation& situation);
Ranking rank_scans(const Situation& situation);
inline const Algorithm* choose_exscan(const Situation& situation) {
  return rank_exscans(situation).best();
}
inline const Algorithm* choose_scan(const Situation& situation) {
  return rank_scans(situation).best();
}

// wants_costs() of these collectives.
bool scan_wants_costs(const Settings& settings, const Situation& situation);

// The segments with which the model takes this pipelined scan to be the fastest.
SegmentPlan scan_segments(const Algorithm& pipelined, const Situation& situation);

}  // namespace sibyl
