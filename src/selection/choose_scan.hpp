// The choice among scans, a part of choose.hpp.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// The exclusive and the inclusive scan that the model takes to be the fastest; never nullptr.
const Algorithm* choose_exscan(const Situation& situation);
const Algorithm* choose_scan(const Situation& situation);

// The segments with which the model takes this pipelined scan to be the fastest.
SegmentPlan scan_segments(const Algorithm& pipelined, const Situation& situation);

}  // namespace sibyl
