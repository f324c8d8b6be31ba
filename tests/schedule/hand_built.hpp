// Small plans written by hand for the tests of this room, so that they need no planner, and how to
// verify them.
#pragma once

#include <gtest/gtest.h>

#include "schedule/verify.hpp"
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

// Reduce of 2 ranks in 2 parts to rank 0: rank 1 adds part 0 up, in the second copy of its scratch.
inline Plan parts_plan() {
  Plan plan;
  plan.header.collective = Collective::reduce;
  plan.header.algorithm = "by-hand";
  plan.header.ranks = 2;
  plan.header.segments = 2;
  plan.header.tag_span = 2;
  plan.header.rounds = 2;
  plan.programs.resize(2);
  ProgramBuilder root(plan.programs[0]);
  root.send(1, unit(Buffer::send, 0), 0);
  root.receive(1, unit(Buffer::receive, 1), 0);
  root.combine(unit(Buffer::receive, 1), unit(Buffer::send, 1), 0);
  root.receive(1, unit(Buffer::receive, 0), 1);
  plan.programs[1].scratch_units = 4;
  ProgramBuilder other(plan.programs[1]);
  other.receive(0, unit(Buffer::scratch, 2), 0);
  other.combine(unit(Buffer::scratch, 2), unit(Buffer::send, 0), 0);
  other.send(0, unit(Buffer::send, 1), 0);
  other.send(0, unit(Buffer::scratch, 2), 1);
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

// Rank 1 combines what it receives from rank 0 onto its own input.
inline Plan scan_in_place() {
  Plan plan;
  plan.header.collective = Collective::scan;
  plan.header.ranks = 2;
  plan.header.rounds = 1;
  plan.header.keeps_order = true;
  plan.programs.resize(2);
  ProgramBuilder(plan.programs[0]).send(1, unit(Buffer::send), 0);
  ProgramBuilder(plan.programs[1]).receive_combine(0, unit(Buffer::receive), 0);
  plan.programs[0].in_place = plan.programs[1].in_place = true;
  return plan;
}

// A scatter whose two ranks exchange control messages first.
inline Plan ping_plan() {
  Plan plan;
  plan.header.collective = Collective::scatter;
  plan.header.ranks = 2;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1;
  plan.header.tag_span = 2;
  plan.programs.resize(2);
  ProgramBuilder zero(plan.programs[0]);
  zero.send(1, ProgramBuilder::nothing(), 0);
  zero.receive(1, ProgramBuilder::nothing(), 0);
  zero.send(1, unit(Buffer::send, 1), 0);
  zero.copy(unit(Buffer::receive, 0), unit(Buffer::send, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  one.receive(0, ProgramBuilder::nothing(), 0);
  one.send(0, ProgramBuilder::nothing(), 0);
  one.receive(0, unit(Buffer::receive, 1), 0);
  return plan;
}

// Rank 1 posts the receive of its block and behind it that of a control message, which moves first:
// rank 0 sends the block only when it knows from rank 2 that the control message has moved.
inline Plan window_plan() {
  Plan plan;
  plan.header.collective = Collective::scatter;
  plan.header.ranks = 3;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1;
  plan.header.window.receives = 2;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  const StepIndex first[] = {0};
  ProgramBuilder zero(plan.programs[0]);
  zero.receive(2, go, 0);
  zero.send(1, unit(Buffer::send, 1), 0, Gate::on_arrival, first);
  zero.send(2, unit(Buffer::send, 2), 0);
  zero.copy(unit(Buffer::receive, 0), unit(Buffer::send, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  one.receive(0, unit(Buffer::receive, 1), 0);
  one.receive(2, go, 0);
  ProgramBuilder two(plan.programs[2]);
  two.send(1, go, 0);
  two.send(0, go, 0, Gate::on_arrival, first);
  two.receive(0, unit(Buffer::receive, 2), 0);
  return plan;
}

// The same with a staging pool: at rank 2 the message of rank 0 is named first and moves last.
inline Plan staging_plan() {
  Plan plan;
  plan.header.collective = Collective::scan;
  plan.header.ranks = 3;
  plan.header.rounds = 1;
  plan.header.staging = 2;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  const Slice v = unit(Buffer::send);
  const Slice w = unit(Buffer::receive);
  const StepIndex first[] = {0};
  ProgramBuilder zero(plan.programs[0]);
  zero.receive(1, go, 0);
  zero.send(2, v, 0, Gate::on_arrival, first);
  zero.send(1, v, 0);
  zero.copy(w, v, 0);
  ProgramBuilder one(plan.programs[1]);
  one.send(2, v, 0);
  one.send(0, go, 0, Gate::on_arrival, first);
  one.copy(w, v, 0);
  one.receive_combine(0, w, 0);
  ProgramBuilder two(plan.programs[2]);
  two.copy(w, v, 0);
  two.receive_combine(0, w, 0);
  two.receive_combine(1, w, 0);
  return plan;
}

// A reduce in 2 parts whose root receives one part of rank 2 before rank 1 may send it another:
// rank 1 waits for the control message that tells it.
inline Plan combining_plan() {
  Plan plan;
  plan.header.collective = Collective::reduce;
  plan.header.ranks = 3;
  plan.header.segments = 2;
  plan.header.rounds = 1;
  plan.header.tag_span = 3;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  ProgramBuilder zero(plan.programs[0]);
  zero.copy(unit(Buffer::receive, 0, 2), unit(Buffer::send, 0, 2), 0);
  zero.receive(1, go, 0);
  zero.receive_combine(1, unit(Buffer::receive, 0), 0);
  const StepIndex told[] = {zero.receive_combine(2, unit(Buffer::receive, 1), 0)};
  zero.send(1, go, 0, Gate::on_arrival, told);
  zero.receive_combine(1, unit(Buffer::receive, 1), 0);
  zero.receive_combine(2, unit(Buffer::receive, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  const StepIndex hears[] = {one.receive(0, go, 0)};
  one.send(0, go, 0, Gate::on_arrival, hears);
  one.send(0, unit(Buffer::send, 0), 0, Gate::on_arrival, hears);
  one.send(0, unit(Buffer::send, 1), 0);
  ProgramBuilder two(plan.programs[2]);
  two.send(0, unit(Buffer::send, 1), 0);
  two.send(0, unit(Buffer::send, 0), 0);
  return plan;
}

// Rank 1 receives the second message of rank 0 before the first: it asks for that one only when
// rank 2, which it tells of the second, has answered.
inline Plan two_to_one_plan() {
  Plan plan;
  plan.header.collective = Collective::scatter;
  plan.header.ranks = 3;
  plan.header.partition = Partition::blocks;
  plan.header.rounds = 1;
  plan.header.window.sends = 3;
  plan.header.window.in_order = true;
  plan.header.tag_span = 3;
  plan.programs.resize(3);
  const Slice go = ProgramBuilder::nothing();
  ProgramBuilder zero(plan.programs[0]);
  zero.send(1, go, 0);
  zero.send(1, go, 0);
  zero.send(1, unit(Buffer::send, 1), 0);
  zero.send(2, unit(Buffer::send, 2), 0);
  zero.copy(unit(Buffer::receive, 0), unit(Buffer::send, 0), 0);
  ProgramBuilder one(plan.programs[1]);
  const StepIndex answered[] = {one.receive(2, go, 0)};
  one.receive(0, go, 0, Gate::on_arrival, answered);
  const StepIndex second[] = {one.receive(0, go, 0)};
  one.send(2, go, 0, Gate::on_arrival, second);
  one.receive(0, unit(Buffer::receive, 1), 0);
  ProgramBuilder two(plan.programs[2]);
  const StepIndex told[] = {two.receive(1, go, 0)};
  two.send(1, go, 0, Gate::on_arrival, told);
  two.receive(0, unit(Buffer::receive, 2), 0);
  return plan;
}

// At rank 1 the message of rank 0 arrives while `receive` is still being sent, so it has to be
// held until it may be combined.
inline Plan held_plan() {
  Plan plan = ping_plan();
  plan.header.collective = Collective::scan;
  plan.header.partition = Partition::vector;
  for (Program& program : plan.programs) program.clear();
  const Slice go = ProgramBuilder::nothing();
  const Slice v = unit(Buffer::send);
  const Slice w = unit(Buffer::receive);
  ProgramBuilder zero(plan.programs[0]);
  plan.programs[0].scratch_units = 1;
  const StepIndex sent[] = {zero.send(1, v, 0)};
  zero.receive(1, unit(Buffer::scratch), 0, Gate::on_arrival, sent);
  zero.copy(w, v, 0);
  zero.send(1, go, 0);
  ProgramBuilder one(plan.programs[1]);
  one.copy(w, v, 0);
  one.send(0, w, 0);
  one.receive_combine(0, w, 0);
  one.receive(0, go, 0);
  return plan;
}

// Both orders of execution must agree, and a Verifier that has seen another plan with a fresh one.
inline VerifyResult verify_both_orders(const Plan& plan) {
  Verifier verifier;
  verifier.verify(gather_plan());
  const VerifyResult newest = verifier.verify(plan);
  verifier.set_run_order(RunOrder::oldest_first);
  const VerifyResult oldest = verifier.verify(plan);
  EXPECT_EQ(newest.ok, oldest.ok) << newest.problem << " / " << oldest.problem;
  const VerifyResult fresh = verify(plan);
  EXPECT_EQ(newest.problem, fresh.problem);
  return newest;
}

}  // namespace sibyl
