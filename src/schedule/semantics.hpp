// What the collectives mean to the verifier: which units of which buffer exist at a rank, what they
// hold when the call starts, and what they must hold when it ends.
//
//                   send                          receive              must hold at the end
//   exscan          V_r                           all parts            V_0 .. V_(r-1), r > 0
//   scan            V_r                           all parts            V_0 .. V_r
//   gather(v)       block r                       root: all blocks     root: every block
//   scatter(v)      root: all blocks              block r              block r
//   reduce          V_r                           root: all parts      root: V_0 .. V_(p-1)
//   allreduce       V_r                           all parts            V_0 .. V_(p-1)
//   bcast           root: all parts               others: all parts    the root's vector
//   reduce-scatter  V_r, all blocks               block r              V_0 .. V_(p-1) of block r
//   allgather(v)    block r                       all blocks           every block
//   alltoall(v)     blocks to all                 blocks from all      the blocks to rank r
//   barrier         nothing                       nothing              (schedule/awaited.hpp)
//
// In place: in scans, at the root of a reduce, in allreduce and all-to-all `send` is `receive`; the
// root of a gather and the ranks of an allgather have no `send` and find their own block in
// `receive`; the root of a scatter has no `receive` and its block stays where it is; the vector of
// a reduce-scatter is `send`, over which `receive` lies: what is put there ends all of it. A
// broadcast has one buffer at every rank anyway. Rank 0 of an exclusive scan never writes `receive`
// and names it only as in-place input.
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
// Whether, in place, unit u of `receive` is unit u of `send`.
bool in_place_aliases(Collective collective);

Extent extent_of(const PlanHeader& header, Rank rank, const Program& program, Buffer buffer);

// The units that hold this rank's contribution when the call starts. `buffer` is where they lie.
Extent input_of(const PlanHeader& header, Rank rank, const Program& program, Buffer& buffer);

// Which part of all data belongs in a unit of `send` or `receive` of a rank. Parts are numbered as
// units are but in an all-to-all, where every rank sends others.
std::uint32_t part_at(const PlanHeader& header, Rank rank, Buffer buffer, Unit unit);

// The contributions that a unit of the input or of a complete output holds.
Interval input_value(const PlanHeader& header, Rank rank);
Interval output_value(const PlanHeader& header, Rank rank);

// The units of `receive` that must be complete at the end.
Extent output_of(const PlanHeader& header, Rank rank, const Program& program);

}  // namespace sibyl
