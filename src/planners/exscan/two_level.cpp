// Exclusive scan on two levels, for large vectors on nodes of several ranks.
//
// Idea: every node scans among its ranks; its last rank, which then knows the node's total, takes
// part in a scan of the totals and broadcasts what it gets in its node, where everybody puts it on
// the left. A vector leaves a node once per round of the upper scan instead of once per rank.
//
// p no power of two: nothing special; both scans are 123-doubling, for any number of ranks in a
//   node and any number of nodes, which may differ in size.
// Commutativity: not needed; nodes are consecutive ranks, and what comes from below stands left.
// Cost: at most k ranks in each of n nodes: (e(k) + ceil(log2 k)) (alpha + beta m) within nodes and
//   e(n) (alpha + beta m) between them, where e(p) = ceil(log2(p-1) + log2(4/3)); e(k) + e(n)
//   applications of the operator on the longest path.
// Source: J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all
//   Communication, EuroMPI 2014, for the decomposition into nodes; the scans as in
//   doubling_family.cpp.
//
// The ranks of node 0 have their prefix after the first phase. Rank 0 never names its receive
// buffer, except as in-place input. With nodes of one rank this is 123-doubling.
#include "planners/exscan/two_level.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"
#include "planners/headers.hpp"

namespace sibyl::exscan {

TwoLevelRounds two_level_rounds(Rank nodes, Rank largest) {
  return {scan_rounds_of_nodes(largest), scan_rounds_of_nodes(nodes),
          nodes > 1 ? ceil_log2(static_cast<std::uint64_t>(largest)) : 0};
}

TwoLevelRounds two_level_rounds(const PlanRequest& request) {
  const RequestOrder order(request);
  TwoLevelRounds phases = two_level_rounds(order.get().nodes(), order.get().largest_node());
  phases.broadcast = broadcast_rounds(request);
  return phases;
}

// The phases' messages go upwards, upwards between other ranks, and downwards: never two from one
// rank to another, as 123-doubling sends none twice over one distance.
PlanHeader describe_two_level(const PlanRequest& request) {
  return scan_header(Collective::exscan, "two-level", request, two_level_rounds(request).all());
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const NodePlace place(request, rank);
  const TwoLevelRounds phases = two_level_rounds(request);
  Unit slots = 0;
  const auto new_slot = [&] { return ProgramBuilder::slice(Buffer::scratch, slots++); };
  const Slice prefix = ProgramBuilder::slice(Buffer::receive, 0);
  Slice value = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);
  const bool sends_value = !place.is_last_of_node() || !place.is_on_last_node();
  const bool gets_prefix_early = place.index() > 0 || (place.size() == 1 && rank > 0);
  if (request.in_place && sends_value && gets_prefix_early) {
    const Slice saved = new_slot();
    build.copy(saved, value, 0);
    value = saved;
  }

  DoublingGroup within;
  within.size = place.size();
  within.index = place.index();
  within.first = place.first();
  within.operator_rounds = operator_rounds_of_nodes(place.size());
  within.value = value;
  within.prefix = prefix;
  within.joined = ProgramBuilder::slice(Buffer::scratch, slots);
  const bool joined_used = append_doubling(build, within);
  if (joined_used) ++slots;

  Slice below = prefix;  // what the nodes below sum up to
  if (place.node() > 0 && place.size() > 1 && place.passes_on()) below = new_slot();
  if (place.leads()) {
    Slice total = value;
    if (place.size() > 1 && !place.is_on_last_node()) {
      total = new_slot();
      const std::uint32_t round = phases.within == 0 ? 0 : phases.within - 1;
      build.copy(total, value, round);
      build.combine(total, prefix, round);
    }
    const Slice joined =
        joined_used ? within.joined : ProgramBuilder::slice(Buffer::scratch, slots);
    const bool used = append_scan_of_nodes(build, place, phases.within, total, below, joined);
    if (used && !joined_used) ++slots;
  }
  if (place.node() > 0 && place.size() > 1) {
    append_prefix_of_node(build, place, phases.within + phases.between, prefix, below,
                          place.index() == 0);
  }
  program.scratch_units = slots;
}

}  // namespace sibyl::exscan
