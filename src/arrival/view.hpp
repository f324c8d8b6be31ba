// What is known of when the ranks arrive, as programs are planned for it: one immutable value.
//
// Whoever knows something - the user who gives times, the history of a call site, the progress
// reports of a persistent collective - makes a view of it, and whoever plans shares that. A newer
// one takes its place, but never changes one that somebody holds.
//
// Thread safety: a constant value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sibyl/arrival.hpp"

namespace sibyl {

struct ArrivalView {
  std::vector<double> times;  // of rank 0, 1, ...: seconds after the first; empty: nothing is known
  std::vector<Rank> order;    // from the earliest to the latest; ties stand in rank order
  std::uint64_t version = 0;
  double error = 0;   // seconds: times that differ by no more are ties
  double spread = 0;  // seconds from the first arrival to the last
  double lead = 0;    // seconds from the last arrival but one to the last

  bool known() const { return !times.empty(); }
};

// nullptr: nothing is known.
using SharedView = std::shared_ptr<const ArrivalView>;

// From the last but one of these times to the last; 0 of fewer than two.
double lead_of(std::span<const double> times);

// The view of a pattern whose times may begin anywhere, of either sign. A time that is not a number
// is that of a rank of which nothing is known: it is taken to come a second after all others. Where
// nothing is known of any rank, neither times nor order are there.
SharedView view_of(ArrivalPattern pattern);

// Whether all ranks come at the same times by both, but for what is not known better and a quarter
// of the time between the first and the last of the former: what goes by times would be planned
// alike. Both know something of as many ranks.
bool times_agree(const ArrivalView& former, const ArrivalView& later);

}  // namespace sibyl
