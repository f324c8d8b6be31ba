// Broadcast, linear: the root sends the vector to every rank.
//
// Idea: in the memory that a node shares the root writes a vector once, and all others read it
// (executor/window/). Over a network its link carries every copy.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost: (p - 1) (alpha + beta m); alpha + 2 beta m in shared memory.
// Source: the definition; the root serves ranks in the order in which they arrive, as in SLIN of
//   J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and gather
//   operations, 2020, section 4.
//
// All messages are in one round, since they are one where they are written once.
#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"

namespace sibyl::bcast {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header = plain_header(Collective::bcast, "linear", request, request.ranks > 1 ? 1 : 0);
  header.one_ported = request.ranks < 3;
  return header;
}

void plan_linear(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  if (rank != request.root) {
    build.receive(request.root, ProgramBuilder::slice(Buffer::receive, 0), 0,
                  request.background ? Gate::on_start : Gate::on_arrival);
    return;
  }
  for_each_served_rank(
      request, [&](Rank leaf) { build.send(leaf, ProgramBuilder::slice(Buffer::send, 0), 0); });
}

}  // namespace sibyl::bcast
