// All-to-all in the fewest rounds: blocks travel the binary digits of their way.
//
// Idea: a block that has to go d ranks up goes 2^k up in round k, for every digit k that is set in
// d; a rank sends all blocks that go this far in one message.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: ceil(log2 p) (alpha + about beta m p/2), for small blocks.
// Source: J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport
//   Message-Passing Systems, 1997, section 3.
//
// A rank keeps the block that still has to go d up in slot d or, in turn, p + d, so that what comes
// in need not wait for what goes out.
#include <vector>

#include "planners/alltoall/alltoall.hpp"
#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::alltoall {

PlanHeader describe_bruck(const PlanRequest& request) {
  return plain_header(Collective::alltoall, "bruck", request,
                      ceil_log2(static_cast<std::uint64_t>(request.ranks)));
}

void plan_bruck(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const auto ranks = static_cast<Unit>(request.ranks);
  const auto own = static_cast<Unit>(rank);
  const Buffer from = request.in_place ? Buffer::receive : Buffer::send;
  if (!request.in_place) {
    build.copy(ProgramBuilder::slice(Buffer::receive, own), ProgramBuilder::slice(from, own), 0);
  }
  if (ranks == 1) return;
  program.scratch_units = 2 * ranks;
  if (own + 1 < ranks) {
    build.copy(ProgramBuilder::slice(Buffer::scratch, 1, ranks - own - 1),
               ProgramBuilder::slice(from, own + 1, ranks - own - 1), 0);
  }
  if (own > 0) {
    build.copy(ProgramBuilder::slice(Buffer::scratch, ranks - own, own),
               ProgramBuilder::slice(from, 0, own), 0);
  }
  std::vector<Unit> slot(ranks);
  for (Unit d = 0; d < ranks; ++d) slot[d] = d;
  std::vector<Range> given;
  std::vector<Range> taken;
  const std::uint32_t rounds = ceil_log2(ranks);
  for (std::uint32_t k = 0; k < rounds; ++k) {
    given.clear();
    taken.clear();
    for (Unit d = 1; d < ranks; ++d) {
      if ((d >> k & 1) == 0) continue;
      given.push_back({slot[d], 1});
      slot[d] = slot[d] < ranks ? slot[d] + ranks : slot[d] - ranks;
      taken.push_back({slot[d], 1});
    }
    const Unit far = Unit{1} << k;
    build.send(static_cast<Rank>((own + far) % ranks), build.slice(Buffer::scratch, given), k);
    build.receive(static_cast<Rank>((own + ranks - far) % ranks),
                  build.slice(Buffer::scratch, taken), k);
  }
  for (Unit d = 1; d < ranks; ++d) {
    build.copy(ProgramBuilder::slice(Buffer::receive, (own + ranks - d) % ranks),
               ProgramBuilder::slice(Buffer::scratch, slot[d]), rounds - 1);
  }
}

}  // namespace sibyl::alltoall
