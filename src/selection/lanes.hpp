// How many lanes a plan on two levels has between nodes.
//
// What a node's ranks bring is taken in and combined by those of them that lead a lane, and handed
// out by them: with more lanes by more processors at a time, as far as the node's memory and
// processors bring that. Between nodes several ranks fill a link where one does not, and pay for
// more and shorter messages where it does. All of this is measured (cost/calibration.hpp).
#pragma once

#include <cstdint>

#include "planners/nodes.hpp"
#include "selection/choose.hpp"

namespace sibyl {

// Lanes and the segments of each, of an algorithm that may have several: as the settings say, or as
// the model takes it to be the fastest. One lane where nothing is known.
SegmentPlan lane_segments(const Settings& settings, const Algorithm& algorithm,
                          const Situation& now);

// What segments_for says of a vector of so many elements, with fewer lanes where messages between
// two ranks would need more than `tags`: on nodes of different sizes the ranks of a small one lead
// several lanes each.
SegmentPlan segments_within(const Settings& settings, const Algorithm& algorithm,
                            const Situation& now, std::uint64_t elements,
                            const Placement& placement, std::int64_t tags);

}  // namespace sibyl
