// Reduce around a ring: reduce-scatter in p parts, then every rank sends its part to the root.
//
// Idea: the sum of a part goes once around the ring and takes up one operand at every rank, all
// parts at the same time; after p-1 rounds each rank has the whole sum of one part, and sends it
// to the root.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a part begins at any rank of the ring.
// In place: at the root.
// Cost: 2 (p-1) (alpha + beta m/p), and p-1 applications of the operator to m/p.
// Source: the parallel ring (RING), also known as bucket algorithm, that J. Proficz,
//   K. M. Ocetkiewicz, Improving Clairvoyant, 2020, section 6 compares with; M. Barnett,
//   R. Littlefield, D. G. Payne, R. van de Geijn, Global Combine on Mesh Architectures, 1993.
//
// Data: what arrives takes up this rank's operand where it lies, in `scratch`, at the root in
// `receive`; in place, where the root's operands are there, in `scratch` too, up to its own part.
#include "planners/reduce/ring.hpp"

#include "planners/headers.hpp"

namespace sibyl::reduce {

PlanHeader describe_ring(const PlanRequest& request) {
  const auto ranks = static_cast<std::uint32_t>(request.ranks);
  PlanHeader header = plain_header(Collective::reduce, "ring", request, 2 * (ranks - 1));
  header.segments = ranks;
  header.tag_span = ranks;  // the rank before the root sends it its part too
  return header;
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const bool at_root = rank == request.root;
  program.in_place = at_root && request.in_place;
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  const auto modulo = [ranks](Rank number) { return (number % ranks + ranks) % ranks; };
  const auto part = [](Buffer buffer, Rank number) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(number));
  };
  if (ranks == 1) {
    if (!program.in_place) build.copy(part(Buffer::receive, 0), part(Buffer::send, 0), 0);
    return;
  }
  const Buffer sums = at_root && !program.in_place ? Buffer::receive : Buffer::scratch;
  if (sums == Buffer::scratch) program.scratch_units = static_cast<Unit>(ranks);

  // Part b begins at rank b + 1 and ends at rank b.
  const auto scatter_rounds = static_cast<std::uint32_t>(ranks - 1);
  Slice sum = part(Buffer::send, modulo(rank - 1));
  for (std::uint32_t round = 0; round < scatter_rounds; ++round) {
    const Rank number = modulo(rank - 2 - static_cast<Rank>(round));
    build.send(modulo(rank + 1), sum, round);
    if (program.in_place && number == rank) {
      build.receive_combine(modulo(rank - 1), part(Buffer::receive, number), round);
      continue;
    }
    sum = part(sums, number);
    build.receive(modulo(rank - 1), sum, round);
    build.combine(sum, part(Buffer::send, number), round);
  }
  // The rank after the root is the first to send its part.
  const auto turn = [&](Rank distance) {
    return scatter_rounds + static_cast<std::uint32_t>(distance) - 1;
  };
  if (!at_root) {
    build.send(request.root, sum, turn(modulo(rank - request.root)));
    return;
  }
  for (Rank distance = 1; distance < ranks; ++distance) {
    const Rank peer = modulo(rank + distance);
    build.receive(peer, part(Buffer::receive, peer), turn(distance));
  }
}

}  // namespace sibyl::reduce
