// Small plans written by hand for the tests of this room, so that they need no planner.
#pragma once

#include "sibyl/schedule.hpp"

namespace sibyl {

inline Slice unit(Buffer buffer, Unit first = 0, Unit count = 1) {
  return ProgramBuilder::slice(buffer, first, count);
}

// Exclusive scan of 4 ranks by 1-doubling: rounds of distance 1, 1 and 2, operands in order.
inline Plan exscan_plan() {
  Plan plan;
  plan.header.collective = Collective::exscan;
  plan.header.algorithm = "by-hand";
  plan.header.ranks = 4;
  plan.header.tag_span = 2;
  plan.header.rounds = 3;
  plan.header.one_ported = true;
  plan.header.keeps_order = true;
  plan.programs.resize(4);
  const Slice v = unit(Buffer::send);
  const Slice w = unit(Buffer::receive);
  ProgramBuilder(plan.programs[0]).send(1, v, 0);
  for (Rank rank = 1; rank < 4; ++rank) {
    ProgramBuilder build(plan.programs[static_cast<std::size_t>(rank)]);
    if (rank < 3) build.send(rank + 1, v, 0);
    build.receive(rank - 1, w, 0);
    if (rank < 3) build.send(rank + 1, w, 1);
    if (rank > 1) build.receive_combine(rank - 1, w, 1);
    if (rank == 1) build.send(3, w, 2);
    if (rank == 3) build.receive_combine(1, w, 2);
  }
  // After round 1 rank 2 is done and rank 3 holds V_1 + V_2, so that it lacks V_0 alone.
  return plan;
}

// Gather of 3 ranks to rank 1 through rank 2, which packs its own block behind that of rank 0.
inline Plan gather_plan() {
  Plan plan;
  plan.header.collective = Collective::gather;
  plan.header.algorithm = "by-hand";
  plan.header.ranks = 3;
  plan.header.root = 1;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 2;
  plan.programs.resize(3);
  ProgramBuilder(plan.programs[0]).send(2, unit(Buffer::send, 0), 0);
  ProgramBuilder relay(plan.programs[2]);
  plan.programs[2].scratch_units = 2;
  relay.receive(0, unit(Buffer::scratch, 0), 0, Gate::on_start);
  relay.copy(unit(Buffer::scratch, 1), unit(Buffer::send, 2), 1);
  relay.send(1, unit(Buffer::scratch, 0, 2), 1);
  ProgramBuilder root(plan.programs[1]);
  const Range ends[] = {{0, 1}, {2, 1}};
  root.receive(2, root.slice(Buffer::receive, ends), 1);
  root.copy(unit(Buffer::receive, 1), unit(Buffer::send, 1), 1);
  return plan;
}

}  // namespace sibyl
