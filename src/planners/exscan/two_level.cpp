// Exclusive scan on two levels, for large vectors on nodes of several ranks.
//
// Idea: every node scans among its ranks; its last rank, which then knows the node's total, takes
// part in a scan of the totals and broadcasts what it gets in its node, where everybody puts it on
// the left. A vector leaves a node once per round of the upper scan instead of once per rank.
//
// p no power of two: nothing special; both scans are 123-doubling, for any number of ranks in a
//   node and any number of nodes. The last node may be smaller.
// Commutativity: not needed; nodes are consecutive ranks, and what comes from below stands left.
// Cost: with k ranks in each of n nodes, ceil(log2 k) (alpha + beta m) twice within nodes, and
//   ceil(log2 n) (alpha + beta m) between them; ceil(log2 k) + ceil(log2 n) applications of the
//   operator on the longest path.
// Source: J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all
//   Communication, EuroMPI 2014, for the decomposition into nodes; the scans as in
//   doubling_family.cpp.
//
// Ranks 0 to k-1 have their prefix after the first phase. Rank 0 never names its receive buffer,
// except as in-place input. With nodes of one rank this is 123-doubling.
#include "planners/exscan/two_level.hpp"

#include <algorithm>
#include <bit>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"
#include "planners/headers.hpp"

namespace sibyl::exscan {
namespace {

std::uint32_t log2_up(Rank n) { return ceil_log2(static_cast<std::uint64_t>(n)); }
// Of the family the member with at most one application of the operator more than 1-doubling: the
// vectors are large here.
std::uint32_t operator_rounds(Rank n) {
  return operator_rounds_of(Member::one_two_three_doubling, n);
}
std::uint32_t scan_rounds(Rank n) { return rounds(n, operator_rounds(n)); }

// Where a rank stands.
struct Place {
  Rank per_node, nodes, node, size, index;  // size: ranks of this node
  Place(Rank ranks, Rank ranks_per_node, Rank rank)
      : per_node(std::min(ranks, ranks_per_node)),
        nodes((ranks - 1) / per_node + 1),
        node(rank / per_node),
        size(std::min(per_node, ranks - node * per_node)),
        index(rank - node * per_node) {}
  bool last_of_node() const { return index == size - 1; }
  // The node's last rank is 0 in the broadcast's tree, which counts downwards.
  std::uint32_t relative() const { return static_cast<std::uint32_t>(size - 1 - index); }
  // Whether this rank has somebody to send to in the broadcast.
  bool broadcasts() const {
    return relative() + (1U << std::bit_width(relative())) < static_cast<std::uint32_t>(size);
  }
  bool last_node() const { return node == nodes - 1; }
};

// Binomial broadcast from the node's last rank; every rank puts what comes on the left of its
// prefix once it has passed it on.
void append_broadcast(ProgramBuilder& build, const Place& place, std::uint32_t first_round,
                      const Slice& prefix, const Slice& below) {
  const Rank last = place.node * place.per_node + place.size - 1;
  const std::uint32_t relative = place.relative();
  const auto size = static_cast<std::uint32_t>(place.size);
  auto step = static_cast<std::uint32_t>(std::bit_width(relative));
  if (relative > 0) {
    const auto peer = static_cast<Rank>(last - static_cast<Rank>(relative - (1U << (step - 1))));
    const std::uint32_t round = first_round + step - 1;
    if (place.index == 0) {  // has no prefix yet, and nobody to send to
      build.receive(peer, prefix, round);
      return;
    }
    if (!place.broadcasts()) {
      build.receive_combine(peer, prefix, round);
      return;
    }
    build.receive(peer, below, round);
  }
  for (; relative + (1U << step) < size; ++step) {
    build.send(static_cast<Rank>(last - static_cast<Rank>(relative + (1U << step))), below,
               first_round + step);
  }
  build.combine(prefix, below, first_round + step - 1);
}

}  // namespace

TwoLevelRounds two_level_rounds(Rank ranks, Rank ranks_per_node) {
  const Place first(ranks, ranks_per_node, 0);
  // Node 0 needs no broadcast; of two nodes only the second has one.
  const Rank widest = first.nodes > 2 ? first.per_node : std::max(1, ranks - first.per_node);
  return {scan_rounds(first.per_node), scan_rounds(first.nodes),
          first.nodes > 1 ? log2_up(widest) : 0};
}

PlanHeader describe_two_level(const PlanRequest& request) {
  const TwoLevelRounds phases = two_level_rounds(request.ranks, request.ranks_per_node);
  const Place first(request.ranks, request.ranks_per_node, 0);
  const auto span = [](Rank n) { return tag_span(n, operator_rounds(n)); };
  PlanHeader header = scan_header(Collective::exscan, "two-level", request,
                                  phases.within + phases.between + phases.broadcast);
  // The phases' messages go upwards, upwards between other ranks, and downwards.
  const Rank last_size = request.ranks - (first.nodes - 1) * first.per_node;
  header.tag_span = std::max({span(first.per_node), span(first.nodes), span(last_size)});
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Place place(request.ranks, request.ranks_per_node, rank);
  const TwoLevelRounds phases = two_level_rounds(request.ranks, request.ranks_per_node);
  const bool leads = place.last_of_node() && place.nodes > 1;
  Unit slots = 0;
  const auto new_slot = [&] { return ProgramBuilder::slice(Buffer::scratch, slots++); };
  const Slice prefix = ProgramBuilder::slice(Buffer::receive, 0);
  Slice value = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);
  const bool sends_value = !place.last_of_node() || !place.last_node();
  const bool gets_prefix_early = place.index > 0 || (place.size == 1 && rank > 0);
  if (request.in_place && sends_value && gets_prefix_early) {
    const Slice saved = new_slot();
    build.copy(saved, value, 0);
    value = saved;
  }

  DoublingGroup within;
  within.size = place.size;
  within.index = place.index;
  within.first = place.node * place.per_node;
  within.last = request.ranks - 1;
  within.operator_rounds = operator_rounds(place.size);
  within.value = value;
  within.prefix = prefix;
  within.joined = ProgramBuilder::slice(Buffer::scratch, slots);
  const bool joined_used = append_doubling(build, within);
  if (joined_used) ++slots;

  Slice below = prefix;  // what the nodes below sum up to
  if (place.node > 0 && place.size > 1 && place.broadcasts()) below = new_slot();
  if (leads) {
    DoublingGroup between;
    between.size = place.nodes;
    between.index = place.node;
    between.first = place.per_node - 1;
    between.stride = place.per_node;
    between.last = request.ranks - 1;
    between.operator_rounds = operator_rounds(place.nodes);
    between.first_round = phases.within;
    between.prefix = below;
    between.value = value;
    if (place.size > 1 && !place.last_node()) {
      between.value = new_slot();
      const std::uint32_t round = phases.within == 0 ? 0 : phases.within - 1;
      build.copy(between.value, value, round);
      build.combine(between.value, prefix, round);
    }
    between.joined = joined_used ? within.joined : ProgramBuilder::slice(Buffer::scratch, slots);
    if (append_doubling(build, between) && !joined_used) ++slots;
  }
  if (place.node > 0 && place.size > 1) {
    append_broadcast(build, place, phases.within + phases.between, prefix, below);
  }
  program.scratch_units = slots;
}

}  // namespace sibyl::exscan
