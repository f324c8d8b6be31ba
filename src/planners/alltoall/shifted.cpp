// All-to-all by messages straight between all pairs, everybody beginning with somebody else.
//
// Idea: in round t a rank sends to the rank t above itself and receives from the one t below. In
// the pairwise exchange it does so round by round; shifted, all receives are open from the start
// and a few sends are under way at a time, so that who is there first is served first, and a late
// rank or a large block delays nobody but its own.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p-1) (alpha + beta m); blocks of different sizes: (p-1) alpha and beta times the largest
//   row or column, where ports never wait.
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
//   in MPICH, 2005, section 5.
//
// In the background blocks come in before a rank has arrived.
#include <algorithm>

#include "planners/alltoall/alltoall.hpp"
#include "planners/headers.hpp"
#include "planners/parts.hpp"

namespace sibyl::alltoall {
namespace {

PlanHeader header_of(Collective collective, std::string_view algorithm, const PlanRequest& request,
                     PortWindow window) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  PlanHeader header = plain_header(collective, algorithm, request, others * request.segments);
  header.segments = request.segments;
  header.tag_span = request.segments;
  header.window = window;
  return header;
}

}  // namespace

template <Collective collective>
PlanHeader describe_pairwise(const PlanRequest& request) {
  return header_of(collective, "pairwise", request, {.sends = 1, .receives = 1});
}

template <Collective collective>
PlanHeader describe_shifted(const PlanRequest& request) {
  return header_of(collective, "shifted", request, {.sends = std::max(request.outstanding, 1U)});
}

void plan_shifted(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  const Unit segments = request.segments;
  const auto block = [&](Buffer buffer, Rank of) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(of) * segments, segments);
  };
  const auto segment = [&](Buffer buffer, Rank of, Unit s) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(of) * segments + s);
  };
  if (request.in_place) {
    program.scratch_units = ranks > 1 ? static_cast<Unit>(ranks) * segments : 0;
  } else {
    build.copy(block(Buffer::receive, rank), block(Buffer::send, rank), 0);
  }
  // In place what comes would overwrite what is to be sent.
  const Gate open = request.background && !request.in_place ? Gate::on_start : Gate::on_arrival;
  const Buffer given = request.in_place ? Buffer::scratch : Buffer::send;
  std::uint32_t round = 0;
  for (Rank t = 1; t < ranks; ++t) {
    const Rank to = (rank + t) % ranks;
    const Rank from = (rank - t + ranks) % ranks;
    if (request.in_place && 2 * t <= ranks) {  // later rounds meet the same two ranks again
      build.copy(block(Buffer::scratch, to), block(Buffer::receive, to), round);
      if (from != to) build.copy(block(Buffer::scratch, from), block(Buffer::receive, from), round);
    }
    for (Unit s = 0; s < segments; ++s, ++round) {
      build.send(to, segment(given, to, s), round);
      build.receive(from, segment(Buffer::receive, from, s), round, open);
    }
  }
}

template PlanHeader describe_pairwise<Collective::alltoall>(const PlanRequest&);
template PlanHeader describe_pairwise<Collective::alltoallv>(const PlanRequest&);
template PlanHeader describe_shifted<Collective::alltoall>(const PlanRequest&);
template PlanHeader describe_shifted<Collective::alltoallv>(const PlanRequest&);

}  // namespace sibyl::alltoall
