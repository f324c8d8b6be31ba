// Reduce-scatter on two levels: as many rings between nodes as ranks have them.
//
// Idea: lane l is the blocks of the l-th ranks of all nodes. The l-th rank of each node adds up
// what its node has of them, block after block, and their sums go around a ring of these ranks,
// which ends where they belong. So nobody hands out anything, every rank adds up a part, and all of
// them send between nodes.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie: one of fewer ranks
// than
//   there are lanes has some lead several.
// Commutativity: required; the sum of a block begins at any node.
// In place: at any rank.
// Cost on n nodes of k ranks, a vector of m in N segments a block: (n-1) (N alpha + beta m/n)
//   between nodes, less than the (p-1)/p beta m of a ring of all ranks in the order of nodes, and
//   of fewer rounds; within them n (k-1) alpha + (k-1)/k beta m.
// Source: J. L. Traeff, S. Hunold, Decomposing MPI Collectives for Exploiting Multi-lane
//   Communication, 2020 (arXiv 1910.13373), section 3; ring.cpp for what goes between nodes.
#include <algorithm>

#include "planners/headers.hpp"
#include "planners/nodes.hpp"
#include "planners/reduce_scatter/reduce_scatter.hpp"

namespace sibyl::reduce_scatter {
namespace {

// Messages of members that a rank may have under way or not yet added up.
constexpr std::uint32_t staged_messages = 4;

// Writes the program of one rank, which leads every lane whose number is its index among the
// members of its node, counted around.
class Writer {
 public:
  Writer(const PlanRequest& request, const Nodes& nodes, Rank rank, Program& program)
      : nodes_(nodes),
        segments_(request.segments),
        node_(nodes.node_of(rank)),
        members_(nodes.members(node_)),
        own_(static_cast<std::size_t>(std::ranges::find(members_, rank) - members_.begin())),
        build_(program) {}

  // Blocks of a node are collected just before they are sent on, or those that come added to them.
  void write() {
    const Rank count = nodes_.count();
    collect((node_ + count - 1) % count, 0);
    for (Rank step = 0; step + 1 < count; ++step) {
      const Rank given = (node_ + 2 * count - 1 - step) % count;
      const Rank taken = (node_ + 2 * count - 2 - step) % count;
      const auto round = static_cast<std::uint32_t>(step) * segments_;
      collect(taken, round);
      for (Unit s = 0; s < segments_; ++s) pass_on(given, taken, s, round + s, step == 0);
    }
  }

 private:
  Slice block(Buffer buffer, Rank of) const {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(of) * segments_, segments_);
  }
  Slice segment(Buffer buffer, Rank of, Unit s) const {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(of) * segments_ + s);
  }
  bool is_alone() const { return members_.size() == 1; }
  // The blocks of a node in the lanes that a member leads, with the number of the lane.
  template <class Act>
  void for_each_block(Rank node, std::size_t member, Act act) const {
    const std::span<const Rank> blocks = nodes_.members(node);
    for (std::size_t lane = member; lane < blocks.size(); lane += members_.size()) {
      act(blocks[lane], lane);
    }
  }
  Rank leader(Rank node, std::size_t lane) const {
    const std::span<const Rank> there = nodes_.members(node);
    return there[lane % there.size()];
  }

  void collect(Rank of, std::uint32_t round) {
    const std::size_t all = members_.size();
    for (std::size_t far = 1; far < all; ++far) {
      const std::size_t to = (own_ + far) % all;
      for_each_block(of, to, [&](Rank sum, std::size_t) {
        build_.send(members_[to], block(Buffer::send, sum), round);
      });
      const Rank from = members_[(own_ + all - far) % all];
      for_each_block(of, own_, [&](Rank sum, std::size_t) {
        if (far > 1) {
          build_.receive_combine(from, block(Buffer::scratch, sum), round);
        } else {
          build_.receive(from, block(Buffer::scratch, sum), round);
          build_.combine(block(Buffer::scratch, sum), block(Buffer::send, sum), round);
        }
      });
    }
  }

  void pass_on(Rank given, Rank taken, Unit s, std::uint32_t round, bool first) {
    const Rank count = nodes_.count();
    const Rank next = (node_ + 1) % count;
    const Rank before = (node_ + count - 1) % count;
    for_each_block(given, own_, [&](Rank sum, std::size_t lane) {
      const Buffer from = first && is_alone() ? Buffer::send : Buffer::scratch;
      build_.send(leader(next, lane), segment(from, sum, s), round);
    });
    for_each_block(taken, own_, [&](Rank sum, std::size_t lane) {
      const Slice here = segment(Buffer::scratch, sum, s);
      if (!is_alone()) {
        build_.receive_combine(leader(before, lane), here, round);
      } else {
        build_.receive(leader(before, lane), here, round);
        build_.combine(here, segment(Buffer::send, sum, s), round);
      }
    });
  }

  const Nodes& nodes_;
  Unit segments_;
  Rank node_;
  std::span<const Rank> members_;
  std::size_t own_;  // this rank's index among them
  ProgramBuilder build_;
};

std::uint32_t rounds_of(const Nodes& nodes, const PlanRequest& request) {
  const std::uint32_t between = static_cast<std::uint32_t>(nodes.count() - 1) * request.segments;
  return std::max(between, nodes.count() < request.ranks ? 1U : 0U);
}

// Two ranks of neighbouring nodes have no more lanes in common than one of the larger node leads;
// within a node blocks are not cut.
std::uint32_t tags_of(const Nodes& nodes, const PlanRequest& request) {
  const auto size = [&](Rank node) {
    return static_cast<std::uint32_t>(nodes.members(node % nodes.count()).size());
  };
  std::uint32_t between = static_cast<std::uint32_t>(request.ranks);
  std::uint32_t within = between;
  for (Rank node = 0; node < nodes.count(); ++node) {
    between = std::min(between, std::max(size(node), size(node + 1)));
    if (size(node) > 1) within = std::min(within, size(node));
  }
  const auto led_by_one_of = [&](std::uint32_t members) {
    std::uint32_t blocks = 0;
    for (Rank node = 0; node < nodes.count(); ++node) {
      blocks += (size(node) + members - 1) / members;
    }
    return blocks;
  };
  return std::max(led_by_one_of(between) * request.segments, led_by_one_of(within));
}

}  // namespace

template <Collective collective>
PlanHeader describe_two_level(const PlanRequest& request) {
  const Nodes nodes(request);
  PlanHeader header = plain_header(collective, "two-level", request, rounds_of(nodes, request));
  header.segments = request.segments;
  header.staging = staged_messages;
  header.one_ported = nodes.count() == request.ranks;
  header.tag_span = tags_of(nodes, request);
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  begin_sums(request, static_cast<Unit>(request.ranks) * request.segments, program);
  const Nodes nodes(request);
  Writer(request, nodes, rank, program).write();
  const std::uint32_t rounds = rounds_of(nodes, request);
  put_own_block(request, rank, program, rounds == 0 ? 0 : rounds - 1);
}

template PlanHeader describe_two_level<Collective::reduce_scatter>(const PlanRequest&);
template PlanHeader describe_two_level<Collective::reduce_scatter_block>(const PlanRequest&);

}  // namespace sibyl::reduce_scatter
