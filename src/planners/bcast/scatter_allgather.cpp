// Broadcast as a scatter followed by an allgather.
//
// Idea: the vector in p parts is scattered over a binomial tree, so that every rank has a part;
// then the parts go round a ring, all links busy all the time.
//
// p no power of two: no matter; subtrees are cut off at the last rank.
// Commutativity: no operator.
// Cost: (ceil(log2 p) + p - 1) alpha + 2 (p-1)/p beta m.
// Source: M. Barnett et al., Interprocessor Collective Communication Library (InterCom), 1994, the
//   scatter-collect broadcast; R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective
//   Communication Operations in MPICH, 2005, section 4.
//
// Parts are numbered from the root. A rank gets the parts of its whole subtree and needs not be
// sent them again: it takes part in the ring for what is missing.
#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"
#include "planners/tree_shapes.hpp"

namespace sibyl::bcast {

PlanHeader describe_scatter_allgather(const PlanRequest& request) {
  const auto ranks = static_cast<std::uint32_t>(request.ranks);
  const std::uint32_t rounds = ranks == 1 ? 0 : tree_steps(request.ranks) + ranks - 1;
  PlanHeader header = plain_header(Collective::bcast, "scatter-allgather", request, rounds);
  header.segments = ranks;
  header.tag_span = ranks;
  return header;
}

void plan_scatter_allgather(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  if (ranks == 1) return;
  const auto rank_at = [&](Rank place) {
    return static_cast<Rank>((std::int64_t{place} + request.root) % ranks);
  };
  const Rank place = static_cast<Rank>((std::int64_t{rank} - request.root + ranks) % ranks);
  const bool at_root = place == 0;
  const Gate gate = request.background && !at_root ? Gate::on_start : Gate::on_arrival;
  const Buffer buffer = at_root ? Buffer::send : Buffer::receive;
  const TreeNode node = tree_node(TreeShape::contiguous, place, ranks);
  const auto parts = [&](Rank first, Rank count) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(first), static_cast<Unit>(count));
  };
  if (!at_root) build.receive(rank_at(node.parent), parts(place, node.size), node.step, gate);
  for (const TreeChild& child : node.children()) {
    const TreeNode below = tree_node(TreeShape::contiguous, child.place, ranks);
    build.send(rank_at(child.place), parts(child.place, below.size), child.step, gate);
  }
  // Part b comes from place b around the ring; the next place has the parts of its own subtree.
  const Rank next = (place + 1) % ranks;
  const Rank next_size = tree_node(TreeShape::contiguous, next, ranks).size;
  const std::uint32_t first_round = tree_steps(ranks);
  for (Rank t = 0; t + 1 < ranks; ++t) {
    const std::uint32_t round = first_round + static_cast<std::uint32_t>(t);
    const Rank given = (place - t + ranks) % ranks;
    const Rank taken = (given - 1 + ranks) % ranks;
    const bool next_has_it = given >= next && given < next + next_size;
    if (next != 0 && !next_has_it) build.send(rank_at(next), parts(given, 1), round, gate);
    const bool has_it = taken >= place && taken < place + node.size;
    if (!at_root && !has_it) build.receive(rank_at(place - 1), parts(taken, 1), round, gate);
  }
}

}  // namespace sibyl::bcast
