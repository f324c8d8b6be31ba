// Two-level plans of the collectives of a vector; see two_level.hpp.
//
// What a node has of a vector is added up at the leader of its lane, if anything is added up at
// all, where the result will be: in `receive`, or in scratch where the caller gave none.
#include <algorithm>
#include <vector>

#include "planners/node_plan.hpp"

namespace sibyl {
namespace {

class VectorPlan final : public NodePlan {
 public:
  VectorPlan(Collective collective, PlanBetweenNodes between, const PlanRequest& request,
             const Nodes& nodes, Rank node)
      : NodePlan(
            between, request, nodes, node,
            // What a leader has collected lies where the result will be.
            nodes.members(node).size() == 1 ? request.in_place : collective != Collective::bcast),
        collective_(collective),
        at_root_node_(has_root(collective) && node == nodes.node_of(request.root)) {}

 private:
  bool sums() const { return combines(collective_); }
  bool is_root() const { return has_root(collective_) && rank() == request().root; }
  bool works_in_place(Rank rank) const override {
    return request().in_place && (!has_root(collective_) || rank == request().root);
  }
  std::uint32_t messages_within() const override { return groups().count(); }

  // Those whose parts the leader of a lane collects.
  std::vector<Rank> givers(std::uint32_t lane) const {
    std::vector<Rank> ranks;
    if (sums()) {
      for (const Rank member : members()) {
        if (member != leader(lane)) ranks.push_back(member);
      }
      // In the order in which they come.
      if (!request().arrivals.empty()) {
        std::ranges::stable_sort(ranks, {}, [&](Rank member) {
          return request().arrivals[static_cast<std::size_t>(member)];
        });
      }
    } else if (at_root_node_ && leader(lane) != request().root) {
      ranks.push_back(request().root);
    }
    return ranks;
  }
  // Those to whom it hands the result.
  std::vector<Rank> takers(std::uint32_t lane) const {
    std::vector<Rank> ranks;
    for (const Rank member : members()) {
      if (member == leader(lane)) continue;
      const bool is_root = at_root_node_ && member == request().root;
      if (collective_ == Collective::reduce ? is_root : !is_root) ranks.push_back(member);
    }
    return ranks;
  }

  void list_within(std::uint32_t lane) override {
    const bool leads = leader(lane) == rank();
    bool first = true;
    for (const Rank giver : givers(lane)) {
      if (leads || giver == rank()) {
        for (Unit group = 0; group < groups().count(); ++group) {
          add({groups().first_round(group), lane, Phase::collect, group,
               leads ? giver : leader(lane), !leads, first});
        }
      }
      first = false;
    }
    for (const Rank taker : takers(lane)) {
      if (!leads && taker != rank()) continue;
      for (Unit group = 0; group < groups().count(); ++group) {
        add({groups().last_round(group), lane, Phase::hand_out, group, leads ? taker : leader(lane),
             leads, false});
      }
    }
  }

  Slice at(Buffer buffer, std::uint32_t lane, Unit segment, Unit count) const {
    return ProgramBuilder::slice(buffer, lane * segments() + segment, count);
  }
  Slice at_group(Buffer buffer, const TwoLevelStep& item) const {
    const Range group = groups().segments(item.sequence);
    return at(buffer, item.lane, group.first, group.count);
  }
  // Of what a leader has of its node: the result's place, or the first copy in scratch where the
  // caller gave none.
  Buffer node_buffer() const {
    if (collective_ == Collective::bcast) return is_root() ? Buffer::send : Buffer::receive;
    return collective_ == Collective::reduce && !is_root() ? Buffer::scratch : Buffer::receive;
  }

  Slice mapped(const Slice& slice, std::uint32_t lane, ProgramBuilder&) override {
    if (slice.range.count == 0) return ProgramBuilder::nothing();
    const Unit all = request().lanes * segments();
    const Unit unit = slice.range.first;
    if (slice.buffer != Buffer::scratch) {
      const Buffer buffer = is_alone() ? slice.buffer : node_buffer();
      if (buffer == Buffer::scratch) use_copies(1);
      return at(buffer, lane, unit, slice.range.count);
    }
    const Unit shift = !is_alone() && node_buffer() == Buffer::scratch ? 1 : 0;
    const Unit copy = unit / segments() + shift;
    use_copies(copy + 1);
    return ProgramBuilder::slice(
        Buffer::scratch, copy * all + lane * segments() + unit % segments(), slice.range.count);
  }

  void emit_within(const TwoLevelStep& item, ProgramBuilder& build) override {
    if (item.phase == Phase::collect) {
      emit_collect(item, build);
    } else if (item.sends) {
      build.send(item.peer, at_group(node_buffer(), item), item.round);
    } else {
      build.receive(item.peer, at_group(Buffer::receive, item), item.round);
    }
  }

  void emit_collect(const TwoLevelStep& item, ProgramBuilder& build) {
    const bool own_in_receive = works_in_place(rank());
    if (item.sends) {
      const Buffer own = own_in_receive && sums() ? Buffer::receive : Buffer::send;
      build.send(item.peer, at_group(own, item), item.round);
      return;
    }
    const Buffer buffer = node_buffer();
    if (buffer == Buffer::scratch) use_copies(1);
    const Slice sum = at_group(buffer, item);
    if (!sums()) {
      build.receive(item.peer, sum, item.round);
    } else if (item.first && !(buffer == Buffer::receive && own_in_receive)) {
      build.receive(item.peer, sum, item.round);
      build.combine(sum, at_group(Buffer::send, item), item.round);
    } else {
      build.receive_combine(item.peer, sum, item.round);
    }
  }

  Collective collective_;
  bool at_root_node_;
};

}  // namespace

std::unique_ptr<NodePlan> node_plan_of_vector(Collective collective, PlanBetweenNodes between,
                                              const PlanRequest& request, const Nodes& nodes,
                                              Rank node) {
  return std::make_unique<VectorPlan>(collective, between, request, nodes, node);
}

}  // namespace sibyl
