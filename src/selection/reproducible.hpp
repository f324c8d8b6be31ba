// What is chosen for a reduction that must give the same bits in every call and every run
// (SIBYL_REPRODUCIBLE, docs/how-to/reproducible.md).
//
// Rounding makes the order of the operands show, and the order follows from algorithm and segments.
// So both follow from nothing that was measured, predicted or told of the moment: no costs, no
// arrivals, and not from how ranks lie on nodes either. What is left is the same wherever and
// whenever a program runs: ranks, bytes, operator, root, and the settings that were given by name.
#pragma once

#include "selection/choose.hpp"

namespace sibyl {

// Whether this holds for a collective: it combines, and was asked to.
inline bool is_reproducible(const Settings& settings, Collective collective) {
  return settings.reproducible != 0 && combines(collective);
}

// The situation as it is seen here.
Situation without_the_moment(const Situation& situation);

// The choice: what was asked for by name where it fits, else one of Sibyl's own, which keeps the
// order of the ranks unless a vector is long, for all ranks, and its operator commutes. nullptr,
// the MPI library's own, only where it was asked for by variable.
const Algorithm* choose_reproducible(const Settings& settings, const Situation& situation);

// How an algorithm that cuts the vector is to run.
SegmentPlan reproducible_segments(const Settings& settings, const Algorithm& algorithm,
                                  const Situation& situation);

}  // namespace sibyl
