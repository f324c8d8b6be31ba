// Inclusive scan on two levels, for large vectors on nodes of several ranks.
//
// Idea: every node scans among its ranks; its last rank, whose sum is the node's total, takes part
// in an exclusive scan of the totals and broadcasts what it gets in its node, where everybody puts
// it on the left. A vector leaves a node once per round of the upper scan instead of once per rank.
//
// p no power of two: nothing special; nodes may differ in size.
// Commutativity: not needed; nodes are consecutive ranks, and what comes from below stands left.
// Cost: with at most k ranks in each of n nodes, ceil(log2 k) (alpha + beta m) twice within nodes,
//   and ceil(log2(n-1) + log2(4/3)) (alpha + beta m) between them.
// Source: J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all
//   Communication, EuroMPI 2014, for the decomposition into nodes; doubling.cpp within them,
//   exscan/doubling_family.cpp between.
//
// With nodes of one rank this is an exclusive scan and one application more.
#include "planners/scan/two_level.hpp"

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"
#include "planners/node_prefixes.hpp"

namespace sibyl::scan {
namespace {

TwoLevelRounds rounds_of(const PlanRequest& request) {
  const RequestOrder order(request);
  const Rank nodes = order.get().nodes();
  return {ceil_log2(static_cast<std::uint64_t>(order.get().largest_node())),
          scan_rounds_of_nodes(nodes), broadcast_rounds(request)};
}

// As in doubling.cpp.
void append_doubling_within(ProgramBuilder& build, const NodePlace& place, Rank rank,
                            const Slice& value, const Slice& sum, bool in_place) {
  const std::int64_t end = place.first() + place.size();
  if (rank + 1 < end) build.send(rank + 1, value, 0);
  if (!in_place) build.copy(sum, value, 0);
  if (place.index() > 0) build.receive_combine(rank - 1, sum, 0);
  std::uint32_t round = 1;
  for (std::int64_t distance = 2; distance < place.size(); distance *= 2, ++round) {
    if (rank + distance < end) build.send(static_cast<Rank>(rank + distance), sum, round);
    if (place.index() >= distance) {
      build.receive_combine(static_cast<Rank>(rank - distance), sum, round);
    }
  }
}

}  // namespace

PlanHeader describe_two_level(const PlanRequest& request) {
  return scan_header(Collective::scan, "two-level", request, rounds_of(request).all());
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const NodePlace place(request, rank);
  const TwoLevelRounds phases = rounds_of(request);
  const Slice value = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);
  const Slice sum = ProgramBuilder::slice(Buffer::receive, 0);
  append_doubling_within(build, place, rank, value, sum, request.in_place);

  const bool gets_below = place.node() > 0 && (place.leads() || place.passes_on());
  const Slice below = ProgramBuilder::slice(Buffer::scratch, 0);
  if (gets_below) program.scratch_units = 1;
  if (place.leads()) {
    const Slice joined = ProgramBuilder::slice(Buffer::scratch, program.scratch_units);
    if (append_scan_of_nodes(build, place, phases.within, sum, below, joined)) {
      ++program.scratch_units;
    }
  }
  if (place.node() > 0) {
    const std::uint32_t round = phases.within + phases.between;
    append_prefix_of_node(build, place, place.size() > 1 ? round : round - 1, sum, below, false);
  }
}

}  // namespace sibyl::scan
