// Allgather as a linear synchronised gather to rank 0, followed by a broadcast: with an order and
// open gates BSLB.
//
// Idea: rank 0 asks one rank after the other for its block, in the order in which they arrive, and
// broadcasts the blocks of all once the last is there. With open gates it asks and receives before
// it has arrived itself, so that only the broadcast is left for whoever comes last.
//
// p no power of two: the broadcast's tree has no places beyond the last.
// Commutativity: no operator.
// Cost for blocks of m: (p - 1) (2 alpha + beta m) + alpha, and ceil(log2 p) (alpha + beta p m).
// Source: J. Proficz, All-gather Algorithms Resilient to Imbalanced Process Arrival Patterns, 2021:
//   "background sorted linear synchronized tree with broadcast". Written from that description, the
//   gather being that of gather/linear_synchronised.cpp; the paper's own listing was not at hand,
//   so its root, and the tree of its broadcast, may be others than rank 0 and a binomial one.
//
// The broadcast brings a rank its own block too, which so needs no copy.
#include "planners/allgather/allgather.hpp"
#include "planners/headers.hpp"
#include "planners/service_order.hpp"
#include "planners/tree_shapes.hpp"

namespace sibyl::allgather {
namespace {

constexpr Unit segments = 2;

// Of the gather.
std::uint32_t turns(const PlanRequest& request) {
  return static_cast<std::uint32_t>(request.ranks - 1);
}

Slice segment(Buffer buffer, Rank owner, Unit which) {
  return ProgramBuilder::slice(buffer, segments * static_cast<Unit>(owner) + which);
}

void append_gather_to_first(const PlanRequest& request, Rank rank, Program& program) {
  ProgramBuilder build(program);
  if (rank != 0) {
    const Buffer own = request.in_place ? Buffer::receive : Buffer::send;
    const std::uint32_t turn = turn_of(request, rank);
    const StepIndex asked[] = {build.receive(0, ProgramBuilder::nothing(), turn)};
    build.send(0, segment(own, rank, 0), turn, Gate::on_arrival, asked);
    build.send(0, segment(own, rank, 1), turn, Gate::on_arrival, asked);
    return;
  }
  const Gate gate = request.background ? Gate::on_start : Gate::on_arrival;
  std::uint32_t turn = 0;
  StepIndex previous = 0;
  for_each_served_rank(request, [&](Rank leaf) {
    const std::span<const StepIndex> after(&previous, turn == 0 ? 0 : 1);
    const StepIndex first =
        build.receive(leaf, segment(Buffer::receive, leaf, 0), turn, gate, after);
    build.send(leaf, ProgramBuilder::nothing(), turn, gate, after);
    build.receive(leaf, segment(Buffer::receive, leaf, 1), turn, gate, after);
    ++turn;
    previous = first;
  });
  if (request.in_place) return;
  build.copy(ProgramBuilder::slice(Buffer::receive, 0, segments),
             ProgramBuilder::slice(Buffer::send, 0, segments), last_turn(request));
}

}  // namespace

template <Collective collective>
PlanHeader describe_gather_broadcast(const PlanRequest& request) {
  PlanHeader header = plain_header(collective, "gather-broadcast", request,
                                   turns(request) + tree_steps(request.ranks));
  header.segments = segments;
  header.tag_span = request.ranks > 1 ? 2 : 1;
  header.one_ported = false;
  return header;
}

void plan_gather_broadcast(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  append_gather_to_first(request, rank, program);
  ProgramBuilder build(program);
  const TreeNode node = tree_node(TreeShape::contiguous, rank, request.ranks);
  const Slice all =
      ProgramBuilder::slice(Buffer::receive, 0, segments * static_cast<Unit>(request.ranks));
  const std::uint32_t begin = turns(request);
  if (rank != 0) build.receive(node.parent, all, begin + node.step);
  for (const TreeChild& child : node.children()) build.send(child.place, all, begin + child.step);
}

template PlanHeader describe_gather_broadcast<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_gather_broadcast<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
