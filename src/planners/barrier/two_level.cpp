// Barrier on two levels: dissemination between nodes.
//
// Idea: the ranks of a node tell its leader that they are there. Leaders tell each other by
// dissemination, and each releases its ranks once it has heard of all nodes.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator.
// Cost on n nodes: ceil(log2 n) alpha between nodes, of one message a node and round, and two
//   latencies within each.
// Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988,
//   between nodes; within them ours.
//
// What is sent waits for what has been heard, which no data would make it do.
#include <vector>

#include "planners/barrier/barrier.hpp"
#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"
#include "planners/nodes.hpp"

namespace sibyl::barrier {
namespace {

// Ranks tell their leaders that they are there, and are released, only where nodes are shared.
struct Rounds {
  Rounds(const Nodes& nodes, Rank ranks)
      : shares(nodes.count() < ranks),
        between(shares ? 1 : 0),
        release(between + ceil_log2(static_cast<std::uint64_t>(nodes.count()))) {}
  bool shares;
  std::uint32_t between;  // the first of them
  std::uint32_t release;
};

}  // namespace

PlanHeader describe_two_level(const PlanRequest& request) {
  const Rounds rounds(Nodes(request), request.ranks);
  PlanHeader header = plain_header(Collective::barrier, "two-level", request,
                                   rounds.release + (rounds.shares ? 1 : 0));
  header.one_ported = !rounds.shares;
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Nodes nodes(request);
  const Rounds rounds(nodes, request.ranks);
  const Rank node = nodes.node_of(rank);
  const std::span<const Rank> members = nodes.members(node);
  const Rank leader = members.front();
  if (rank != leader) {
    const StepIndex here = build.send(leader, ProgramBuilder::nothing(), 0);
    build.receive(leader, ProgramBuilder::nothing(), rounds.release, Gate::on_arrival, {&here, 1});
    return;
  }
  std::vector<StepIndex> heard;  // what the next messages wait for
  for (const Rank member : members.subspan(1)) {
    heard.push_back(build.receive(member, ProgramBuilder::nothing(), 0));
  }
  std::uint32_t round = rounds.between;
  for (std::int64_t far = 1; far < nodes.count(); far *= 2, ++round) {
    const auto leader_of = [&](std::int64_t of) {
      return nodes.members(static_cast<Rank>(of % nodes.count())).front();
    };
    build.send(leader_of(node + far), ProgramBuilder::nothing(), round, Gate::on_arrival, heard);
    const Rank from = leader_of(node + nodes.count() - far);
    heard.push_back(build.receive(from, ProgramBuilder::nothing(), round, Gate::on_arrival, heard));
  }
  for (const Rank member : members.subspan(1)) {
    build.send(member, ProgramBuilder::nothing(), rounds.release, Gate::on_arrival, heard);
  }
}

}  // namespace sibyl::barrier
