// Allgather around a ring, blocks in segments.
//
// Idea: every rank sends on to the next what came from the one before, all links busy all the time.
// Blocks in segments keep them so where blocks differ in size: the next part of a large block is
// under way while the one before it is sent on.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost in N segments a block: (p-1) (N alpha + beta m); blocks of any sizes m_i:
//   (p-2 + N (p-1)) alpha + about beta (sum of all m_i + p/N times the largest).
// Source: M. Barnett et al., Global Combine on Mesh Architectures, 1993 (the bucket collect);
//   segments as in J. L. Traeff, A. Ripke, C. Siebert, P. Balaji, R. Thakur, W. Gropp, A Pipelined
//   Algorithm for Large, Irregular All-Gather Problems, 2010.
//
// In the background a rank takes and sends on what is not its own before it has arrived.
#include "planners/allgather/allgather.hpp"
#include "planners/headers.hpp"

namespace sibyl::allgather {

std::string check_segments(const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the blocks into at least 1";
  constexpr std::uint64_t most_units = 1U << 30;
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  if (ranks * request.segments <= most_units) return {};
  return std::to_string(ranks) + " ranks with " + std::to_string(request.segments) +
         " segments a block are more than a plan can number (2^30 in all); ask for fewer segments";
}

template <Collective collective>
PlanHeader describe_ring(const PlanRequest& request) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  PlanHeader header = plain_header(collective, "ring", request, others * request.segments);
  header.segments = request.segments;
  header.tag_span = others == 0 ? 1 : others * request.segments;
  return header;
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  place_own_block(request, rank, program);
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  const Gate open = request.background ? Gate::on_start : Gate::on_arrival;
  const auto segment = [&](Rank block, Unit number) {
    return ProgramBuilder::slice(Buffer::receive,
                                 static_cast<Unit>(block) * request.segments + number);
  };
  std::uint32_t round = 0;
  for (Rank t = 0; t + 1 < ranks; ++t) {
    const Rank given = (rank - t + ranks) % ranks;
    const Rank taken = (given - 1 + ranks) % ranks;
    for (Unit s = 0; s < request.segments; ++s, ++round) {
      build.send((rank + 1) % ranks, segment(given, s), round, t == 0 ? Gate::on_arrival : open);
      build.receive((rank - 1 + ranks) % ranks, segment(taken, s), round, open);
    }
  }
}

template PlanHeader describe_ring<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_ring<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
