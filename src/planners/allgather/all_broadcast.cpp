// Allgather of blocks in segments, every block broadcast along the same circulant graph.
//
// Idea: all ranks broadcast their blocks at once (bcast/circulant.cpp). In a round every rank sends
// to the same neighbour whatever the block, so that the segments which are due, one of each block,
// are one message. A block that holds nearly all of the data is a pipeline of ceil(log2 p) rounds
// where a ring's has p - 1.
//
// p no power of two: no matter.
// Commutativity: no operator.
// Cost in N segments of blocks of any sizes, M in all: (N - 1 + ceil(log2 p)) (alpha + about
//   beta M/N), as every rank receives every segment once.
// Source: J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
//   Broadcast, All-Broadcast, Reduction and All-Reduction, 2024 (arXiv 2407.18004), section 3.
//
// A message is put together from as many places as there are blocks.
#include <vector>

#include "planners/allgather/allgather.hpp"
#include "planners/circulant_receipts.hpp"
#include "planners/headers.hpp"

namespace sibyl::allgather {

template <Collective collective>
PlanHeader describe_all_broadcast(const PlanRequest& request) {
  const std::uint32_t log = Circulant(request.ranks).rounds();
  const std::uint32_t rounds = log == 0 ? 0 : request.segments - 1 + log;
  PlanHeader header = plain_header(collective, "all-broadcast", request, rounds);
  header.segments = request.segments;
  header.window.sends = 1;  // what is sent early would keep neighbours from what is due
  header.tag_span = log == 0 ? 1 : (rounds + log - 1) / log;  // a neighbour's turn is every log
  return header;
}

void plan_all_broadcast(const PlanRequest& request, Rank rank, Program& program) {
  place_own_block(request, rank, program);
  const Circulant graph(request.ranks);
  if (graph.rounds() == 0) return;
  ProgramBuilder build(program);
  // What a rank receives of a block goes by how far it is above the block's rank: [distance - 1].
  std::vector<Receipts> receipts;
  receipts.reserve(static_cast<std::size_t>(request.ranks) - 1);
  for (Rank place = 1; place < request.ranks; ++place) {
    receipts.emplace_back(graph, request.segments, place);
  }
  std::vector<Range> due;
  const auto due_at = [&](Rank receiver, std::uint32_t round) {
    due.clear();
    for (Rank block = 0; block < request.ranks; ++block) {
      if (block == receiver) continue;
      const Receipts& own = receipts[static_cast<std::size_t>(graph.down(receiver, block)) - 1];
      if (!own.is_new(round)) continue;
      const auto segment = static_cast<Unit>(own.segment_in(round));
      due.push_back({static_cast<Unit>(block) * request.segments + segment, 1});
    }
    return build.slice(Buffer::receive, due);
  };
  const std::uint32_t rounds = request.segments - 1 + graph.rounds();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const Rank distance = graph.distance(receipts[0].index_of(round));
    const Rank above = graph.up(rank, distance);
    const Slice sent = due_at(above, round);
    if (sent.range.count != 0) build.send(above, sent, round);
    const Slice received = due_at(rank, round);
    if (received.range.count != 0) build.receive(graph.down(rank, distance), received, round);
  }
}

template PlanHeader describe_all_broadcast<Collective::allgather>(const PlanRequest&);
template PlanHeader describe_all_broadcast<Collective::allgatherv>(const PlanRequest&);

}  // namespace sibyl::allgather
