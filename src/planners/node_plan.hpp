// What the ranks of one node do in a plan on two levels (two_level.hpp): the plan between nodes,
// which segments messages within the node carry together, and the order of a rank's steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planners/nodes.hpp"
#include "planners/two_level.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

// Within a node a message carries several segments of a vector or block, a group: about a sixteenth
// of what a lane carries. Members that share processors with their leader are woken less often, and
// what the memory takes for a group is little beside the wire. Numbered block by block.
class SegmentGroups {
 public:
  // Of a plan between nodes.
  SegmentGroups(const PlanHeader& header, const Program& program);
  Unit count() const { return blocks_ * of_a_block(); }
  Unit of_a_block() const { return (segments_ + size_ - 1) / size_; }
  Unit block(Unit group) const { return group / of_a_block(); }
  Range segments(Unit group) const;  // of its block
  // The round in which one of them is first needed between nodes, and that in which the last of
  // them is complete.
  std::uint32_t first_round(Unit group) const { return first_[group]; }
  std::uint32_t last_round(Unit group) const { return last_[group]; }

 private:
  Unit group_of(Unit unit) const {
    return unit / segments_ * of_a_block() + unit % segments_ / size_;
  }
  void note(std::span<const Range> ranges, std::uint32_t round, bool writes,
            std::vector<bool>& is_written);

  Unit blocks_;
  Unit segments_;
  Unit size_;  // of a group, the last one of a block perhaps smaller
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
};

// A rank's steps stand by round, lane, phase - what is collected, what goes between nodes, what is
// handed out - and then by group or by the order of the program between nodes. Both ends of each
// message see the same keys, so the messages of a pair come in one order at both.
struct TwoLevelStep {
  enum class Phase : std::uint8_t { collect, between, hand_out };

  std::uint32_t round = 0;
  std::uint32_t lane = 0;
  Phase phase = Phase::collect;
  std::uint32_t sequence = 0;  // group of the lane; step of the program between nodes
  Rank peer = no_rank;
  bool sends = false;
  bool first = false;  // of what a leader collects of a group: nothing of it is there yet
};

// One node's part of a plan. Where the data lies, and who gives and takes it within the node, say
// the two kinds of it: of a vector, and of blocks.
class NodePlan {
 public:
  virtual ~NodePlan() = default;
  NodePlan(const NodePlan&) = delete;
  NodePlan& operator=(const NodePlan&) = delete;

  // Of the whole plan: the same on all nodes.
  PlanHeader header() const;
  // Replaces `program` by that of a rank of this node.
  void write(Rank rank, Program& program);

 protected:
  using Phase = TwoLevelStep::Phase;

  // `in_place`: as the program between nodes gets it.
  NodePlan(PlanBetweenNodes between, const PlanRequest& request, const Nodes& nodes, Rank node,
           bool in_place);

  // Appends what comes before everything else, where something does.
  virtual void begin(ProgramBuilder&) {}
  // Adds what goes within the node, in one lane, from or to the rank that is written.
  virtual void list_within(std::uint32_t lane) = 0;
  virtual void emit_within(const TwoLevelStep& item, ProgramBuilder& build) = 0;
  // A slice of the program between nodes, in the buffers of the rank that is written.
  virtual Slice mapped(const Slice& slice, std::uint32_t lane, ProgramBuilder& build) = 0;
  // Messages of one lane from its leader to a member, or from a member to it, at most.
  virtual std::uint32_t messages_within() const = 0;
  virtual bool works_in_place(Rank rank) const = 0;

  const PlanRequest& request() const { return request_; }
  const Nodes& nodes() const { return nodes_; }
  Rank node() const { return node_; }
  Rank rank() const { return rank_; }
  std::span<const Rank> members() const { return members_; }
  bool is_alone() const { return members_.size() == 1; }
  Rank leader(std::uint32_t lane) const { return members_[lane % members_.size()]; }
  Unit segments() const { return header_.segments; }  // of one lane
  const Program& between() const { return between_; }
  const SegmentGroups& groups() const { return groups_; }
  void add(const TwoLevelStep& item) { items_.push_back(item); }
  // The rank that is written uses so many copies of the vector in scratch.
  void use_copies(Unit copies) { copies_ = std::max(copies_, copies); }

 private:
  static PlanHeader plan_between(PlanBetweenNodes between, const PlanRequest& request,
                                 const Nodes& nodes, Rank node, bool in_place, Program& program);
  void emit_between(const TwoLevelStep& item, ProgramBuilder& build,
                    std::vector<StepIndex>& written);

  const PlanRequest& request_;
  const Nodes& nodes_;
  Rank node_;
  std::span<const Rank> members_;
  Program between_;    // of this node
  PlanHeader header_;  // of the plan between nodes
  SegmentGroups groups_;
  Rank rank_ = no_rank;
  Unit copies_ = 0;
  std::vector<TwoLevelStep> items_;
};

std::unique_ptr<NodePlan> node_plan_of_vector(Collective collective, PlanBetweenNodes between,
                                              const PlanRequest& request, const Nodes& nodes,
                                              Rank node);
std::unique_ptr<NodePlan> node_plan_of_blocks(PlanBetweenNodes between, const PlanRequest& request,
                                              const Nodes& nodes, Rank node);

}  // namespace sibyl
