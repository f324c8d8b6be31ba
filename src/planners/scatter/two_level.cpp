// Scatter on two levels, for blocks of some size on nodes of several ranks.
//
// Idea: the root sends one rank of every other node all blocks of that node in one message, and the
// ranks of its own node theirs, one after the other: given an order, in that of those who take a
// message. Who takes a node's message gives the others theirs. Only the root knows the order.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator.
// Cost: with k ranks on each of n nodes (n + k - 2) alpha + (p - 1) beta m at the root, then
//   (k - 1) (alpha + beta m) within the other nodes.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, section 3 (LIN), between nodes; within them ours.
//
// With open gates a node's message is taken and given on before its ranks have arrived.
#include "planners/headers.hpp"
#include "planners/node_parties.hpp"
#include "planners/scatter/scatter.hpp"

namespace sibyl::scatter {

PlanHeader describe_two_level(const PlanRequest& request) {
  const std::vector<Party> parties = parties_of(request, false);
  const auto turns = static_cast<std::uint32_t>(parties.size());
  PlanHeader header =
      plain_header(Collective::scatter, "two-level", request, turns + most_led(parties));
  header.window.sends = request.outstanding;
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const std::vector<Party> parties = parties_of(request, false);
  const auto turns = static_cast<std::uint32_t>(parties.size());
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  const Slice own = ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(rank));

  if (rank == request.root) {
    program.in_place = request.in_place;
    std::uint32_t round = 0;
    for (const Party& party : parties) {
      const Slice blocks = party.blocks(Buffer::send, build);
      build.send(party.leader(), blocks, round++);
    }
    if (!request.in_place) {
      build.copy(own, ProgramBuilder::slice(Buffer::send, static_cast<Unit>(rank)),
                 turns == 0 ? 0 : turns - 1);
    }
    return;
  }

  const PartyPlace place = place_in(parties, rank);
  if (place.index != 0) {
    build.receive(place.party.leader(), own, turns + place.index - 1, gate);
    return;
  }
  if (place.party.ranks.size() == 1) {
    build.receive(request.root, own, place.turn, gate);
    return;
  }
  program.scratch_units = static_cast<Unit>(place.party.ranks.size());
  build.receive(request.root, ProgramBuilder::slice(Buffer::scratch, 0, program.scratch_units),
                place.turn, gate);
  for (Unit index = 1; index < program.scratch_units; ++index) {
    build.send(place.party.ranks[index], ProgramBuilder::slice(Buffer::scratch, index),
               turns + index - 1, gate);
  }
  build.copy(own, ProgramBuilder::slice(Buffer::scratch, 0), turns + program.scratch_units - 2,
             gate);
}

}  // namespace sibyl::scatter
