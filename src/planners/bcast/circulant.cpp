// Broadcast of segments in the fewest rounds there can be, along a circulant graph.
//
// Idea: every rank sends to one neighbour and receives from another in each round, the distance
// going round through those of the graph; a schedule that each rank works out for itself in
// O(log^2 p) says which segment, so that a new one comes in every round once the pipeline is full.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost in N segments: (N - 1 + ceil(log2 p)) (alpha + beta m/N).
// Source: J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
//   Broadcast, All-Broadcast, Reduction and All-Reduction, 2024 (arXiv 2407.18004), section 2.
//
// With one segment this is a tree of ceil(log2 p) rounds. In the first rounds neighbours have
// nothing to send yet, and no message goes; segments beyond the last are the last one once more,
// which is left out where it has been sent.
#include "planners/circulant_receipts.hpp"

#include <vector>

#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"

namespace sibyl::bcast {
PlanHeader describe_circulant(const PlanRequest& request) {
  const std::uint32_t log = Circulant(request.ranks).rounds();
  const std::uint32_t rounds = log == 0 ? 0 : request.segments - 1 + log;
  PlanHeader header = plain_header(Collective::bcast, "circulant", request, rounds);
  header.segments = request.segments;
  header.window.sends = 1;  // what is sent early would keep neighbours from what is due
  header.tag_span = log == 0 ? 1 : request.segments;
  return header;
}

void plan_circulant(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Circulant graph(request.ranks);
  if (graph.rounds() == 0) return;
  const bool at_root = rank == request.root;
  const Rank place = graph.down(rank, request.root);
  const Gate gate = request.background && !at_root ? Gate::on_start : Gate::on_arrival;
  const Buffer buffer = at_root ? Buffer::send : Buffer::receive;
  const std::uint32_t rounds = request.segments - 1 + graph.rounds();
  const Receipts own(graph, request.segments, place);
  std::vector<Receipts> receivers;
  receivers.reserve(graph.rounds());
  for (std::uint32_t k = 0; k < graph.rounds(); ++k) {
    receivers.emplace_back(graph, request.segments, graph.up(place, graph.distance(k)));
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t k = own.index_of(round);
    const Rank to = graph.up(place, graph.distance(k));
    if (to != 0 && receivers[k].is_new(round)) {
      const auto segment = static_cast<Unit>(receivers[k].segment_in(round));
      build.send(graph.up(to, request.root), ProgramBuilder::slice(buffer, segment), round, gate);
    }
    if (!at_root && own.is_new(round)) {
      const Rank from = graph.down(place, graph.distance(k));
      const auto segment = static_cast<Unit>(own.segment_in(round));
      build.receive(graph.up(from, request.root), ProgramBuilder::slice(buffer, segment), round,
                    gate);
    }
  }
}

}  // namespace sibyl::bcast
