// What the collectives mean to the verifier: which units of which buffer exist at a rank, what they
// hold when the call starts, and what they must hold when it ends.
//
//            send                          receive                         must hold at the end
//   exscan   V_r                           all parts                       V_0 .. V_(r-1), r > 0
//   scan     V_r                           all parts                       V_0 .. V_r
//   gather   block r                       root: all blocks                root: every block
//   scatter  root: all blocks              block r                         block r
//   reduce   V_r                           root: all parts                 root: V_0 .. V_(p-1)
//
// In place: in scans and at the root of a reduce `send` is `receive`; the root of a gather has no
// `send` and finds its own block in `receive`; the root of a scatter has no `receive` and its block
// stays where it is. Rank 0 of an exclusive scan never writes `receive` and names it only as
// in-place input.
#pragma once

#include "schedule/value.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// The units of a buffer that exist at a rank.
struct Extent {
  Unit first = 0;
  Unit count = 0;
  Unit end() const { return first + count; }
};

// Whether a rank may have MPI_IN_PLACE.
bool may_be_in_place(const PlanHeader& header, Rank rank);

Extent extent_of(const PlanHeader& header, Rank rank, const Program& program, Buffer buffer);

// The units that hold this rank's contribution when the call starts. `buffer` is where they lie.
Extent input_of(const PlanHeader& header, Rank rank, const Program& program, Buffer& buffer);

// The contributions that unit `unit` of the input or of a complete output holds.
Interval input_value(const PlanHeader& header, Rank rank);
Interval output_value(const PlanHeader& header, Rank rank);

// The units of `receive` that must be complete at the end.
Extent output_of(const PlanHeader& header, Rank rank, const Program& program);

}  // namespace sibyl
