// Gather on two levels, for blocks of some size on nodes of several ranks.
//
// Idea: on every node but the root's one rank takes the blocks of the others and sends the root all
// of them in one message. The root takes those messages, and the blocks of its own node, one after
// the other: given an order, a node when the last of its ranks is expected. Only the root knows the
// order.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator.
// Cost: with k ranks on each of n nodes (n + k - 2) alpha + (p - 1) beta m at the root, after
//   (k - 1) (alpha + beta m) within the other nodes.
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, section 3 (LIN), between nodes; within them ours.
//
// Blocks of ranks that lie apart are one message too, which then has to be unpacked. With open
// gates the root and those who collect for it receive before they have arrived.
#include "planners/gather/gather.hpp"
#include "planners/headers.hpp"
#include "planners/node_parties.hpp"

namespace sibyl::gather {

PlanHeader describe_two_level(const PlanRequest& request) {
  const std::vector<Party> parties = parties_of(request, true);
  const auto turns = static_cast<std::uint32_t>(parties.size());
  PlanHeader header =
      plain_header(Collective::gather, "two-level", request, turns + most_led(parties));
  header.window.receives = request.outstanding;
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const std::vector<Party> parties = parties_of(request, true);
  const std::uint32_t first_turn = most_led(parties);
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  const Slice own = ProgramBuilder::slice(Buffer::send, static_cast<Unit>(rank));

  if (rank == request.root) {
    program.in_place = request.in_place;
    std::uint32_t round = first_turn;
    for (const Party& party : parties) {
      const Slice blocks = party.blocks(Buffer::receive, build);
      build.receive(party.leader(), blocks, round++, gate);
    }
    if (!request.in_place) {
      build.copy(ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(rank)), own,
                 parties.empty() ? 0 : round - 1);
    }
    return;
  }

  const PartyPlace place = place_in(parties, rank);
  const std::uint32_t turn = first_turn + place.turn;
  if (place.index != 0) {
    build.send(place.party.leader(), own, place.index - 1);
    return;
  }
  if (place.party.ranks.size() == 1) {
    build.send(request.root, own, turn);
    return;
  }
  program.scratch_units = static_cast<Unit>(place.party.ranks.size());
  for (Unit index = 1; index < program.scratch_units; ++index) {
    build.receive(place.party.ranks[index], ProgramBuilder::slice(Buffer::scratch, index),
                  index - 1, gate);
  }
  build.copy(ProgramBuilder::slice(Buffer::scratch, 0), own, turn);
  build.send(request.root, ProgramBuilder::slice(Buffer::scratch, 0, program.scratch_units), turn);
}

}  // namespace sibyl::gather
