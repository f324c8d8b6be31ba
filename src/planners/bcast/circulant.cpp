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
#include "planners/circulant.hpp"

#include <algorithm>
#include <vector>

#include "planners/bcast/bcast.hpp"
#include "planners/headers.hpp"

namespace sibyl::bcast {
namespace {

// What a rank, counted from the root, receives in each round, or -1.
class Receipts {
 public:
  Receipts(const Circulant& graph, std::uint32_t segments, Rank rank)
      : phase_(graph.rounds()),
        last_(static_cast<std::int64_t>(segments) - 1),
        idle_(phase_ == 0 ? 0 : (phase_ - (segments - 1) % phase_) % phase_),
        blocks_(graph.received(rank)) {}

  // The first rounds of the first phase are left out so that the last phase is a whole one.
  std::uint32_t index_of(std::uint32_t round) const { return (round + idle_) % phase_; }
  std::int64_t segment_in(std::uint32_t round) const {
    const std::uint32_t at = round + idle_;
    const std::int64_t begin = static_cast<std::int64_t>(at / phase_) * phase_;
    const std::int64_t segment = blocks_[at % phase_] + begin - idle_;
    return segment < 0 ? -1 : std::min(segment, last_);
  }
  // Whether what comes in that round is new.
  bool is_new(std::uint32_t round) const {
    const std::int64_t segment = segment_in(round);
    if (segment < 0) return false;
    if (segment < last_) return true;
    for (std::uint32_t back = 1; back <= phase_ && back <= round; ++back) {
      if (segment_in(round - back) == last_) return false;
    }
    return true;
  }

 private:
  std::uint32_t phase_;
  std::int64_t last_;
  std::uint32_t idle_;
  Circulant::Blocks blocks_;
};

}  // namespace

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
