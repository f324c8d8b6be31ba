// Two-level plans of allgather and allgatherv; see two_level.hpp.
//
// A node's block is the blocks of its ranks: segment s of it is segment s of each of them, one
// message wherever they lie. All data lies in `receive`, every block in its place. The leader of a
// lane collects its node's block, and hands out to each member all that it has, but for the
// member's own.
#include <algorithm>
#include <vector>

#include "planners/node_plan.hpp"

namespace sibyl {
namespace {

class BlocksPlan final : public NodePlan {
 public:
  BlocksPlan(PlanBetweenNodes between, const PlanRequest& request, const Nodes& nodes, Rank node)
      : NodePlan(between, request, nodes, node,
                 // What is collected lies in `receive`.
                 nodes.members(node).size() > 1 || request.in_place) {}

 private:
  bool works_in_place(Rank) const override { return request().in_place; }
  std::uint32_t messages_within() const override { return groups().count(); }

  void begin(ProgramBuilder& build) override {
    if (is_alone() || request().in_place) return;
    const Unit all = request().lanes * segments();
    const Unit first = static_cast<Unit>(rank()) * all;
    build.copy(ProgramBuilder::slice(Buffer::receive, first, all),
               ProgramBuilder::slice(Buffer::send, first, all), 0);
  }

  void list_within(std::uint32_t lane) override {
    const bool leads = leader(lane) == rank();
    for (const Rank member : members()) {
      if (member == leader(lane) || (!leads && member != rank())) continue;
      const Rank peer = leads ? member : leader(lane);
      for (Unit group = 0; group < groups().count(); ++group) {
        if (groups().block(group) == static_cast<Unit>(node())) {
          add({groups().first_round(group), lane, Phase::collect, group, peer, !leads, false});
        }
        add({groups().last_round(group), lane, Phase::hand_out, group, peer, leads, false});
      }
    }
  }

  // Segments of a rank's block.
  Range at(Rank block, std::uint32_t lane, const Range& of) const {
    const Unit of_a_block = request().lanes * segments();
    return {static_cast<Unit>(block) * of_a_block + lane * segments() + of.first, of.count};
  }
  void add_node(Rank node, std::uint32_t lane, const Range& of, Rank without) {
    for (const Rank block : nodes().members(node)) {
      if (block != without) ranges_.push_back(at(block, lane, of));
    }
  }

  Slice mapped(const Slice& slice, std::uint32_t lane, ProgramBuilder& build) override {
    ranges_.clear();
    for (const Range& range : between().ranges_of(slice)) {
      const Unit end = range.first + range.count;
      for (Unit unit = range.first; unit < end;) {
        const Unit node = unit / segments();
        const Range of{unit % segments(), std::min(end, (node + 1) * segments()) - unit};
        add_node(static_cast<Rank>(node), lane, of, no_rank);
        unit += of.count;
      }
    }
    return build.slice(is_alone() ? slice.buffer : Buffer::receive, ranges_);
  }

  void emit_within(const TwoLevelStep& item, ProgramBuilder& build) override {
    const Range group = groups().segments(item.sequence);
    const auto message = [&](const Slice& data) {
      if (item.sends) {
        build.send(item.peer, data, item.round);
      } else {
        build.receive(item.peer, data, item.round);
      }
    };
    ranges_.clear();
    if (item.phase == Phase::collect) {
      ranges_.push_back(at(item.sends ? rank() : item.peer, item.lane, group));
      const bool in_send = item.sends && !request().in_place;
      message(build.slice(in_send ? Buffer::send : Buffer::receive, ranges_));
    } else {
      const auto block = static_cast<Rank>(groups().block(item.sequence));
      add_node(block, item.lane, group, item.sends ? item.peer : rank());
      message(build.slice(Buffer::receive, ranges_));
    }
  }

  std::vector<Range> ranges_;  // of the slice that is made
};

}  // namespace

std::unique_ptr<NodePlan> node_plan_of_blocks(PlanBetweenNodes between, const PlanRequest& request,
                                              const Nodes& nodes, Rank node) {
  return std::make_unique<BlocksPlan>(between, request, nodes, node);
}

}  // namespace sibyl
