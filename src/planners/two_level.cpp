// Two-level plans; see two_level.hpp.
//
// Groups. Within a node messages carry several segments, a sixteenth of the lane each: members that
// share processors with their leader are woken less often, and what the memory takes for a group is
// little beside the wire.
//
// Order. A rank's steps stand by round, lane, phase - what is collected, what goes between nodes,
// what is handed out - and then by group or by the order of the program between nodes. Both ends of
// each message see the same keys, so the messages of a pair come in one order at both.
#include "planners/two_level.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "planners/nodes.hpp"

namespace sibyl {
namespace {

// Messages of members that a leader may have under way or not yet added up.
constexpr std::uint32_t least_staging = 4;
constexpr Unit groups_of_a_lane = 16;

enum class Phase : std::uint8_t { collect, between, hand_out };

struct Item {
  std::uint32_t round = 0;
  std::uint32_t lane = 0;
  Phase phase = Phase::collect;
  std::uint32_t sequence = 0;  // group of the lane; step of the program between nodes
  Rank peer = no_rank;
  bool sends = false;
  bool first = false;  // of what a leader collects of a group: nothing of it is there yet
};

// What is asked of the algorithm between nodes.
class BetweenNodes {
 public:
  BetweenNodes(const Nodes& nodes, const PlanRequest& request) : request_(request) {
    request_.ranks = nodes.count();
    request_.root = nodes.node_of(request.root);
    request_.ranks_per_node = 1;
    request_.nodes = {};
    request_.lanes = 1;
    request_.background = false;
    request_.schedule = nullptr;
    if (request.arrivals.empty()) return;
    arrivals_.assign(static_cast<std::size_t>(nodes.count()), 0);
    for (Rank rank = 0; rank < request.ranks; ++rank) {
      double& latest = arrivals_[static_cast<std::size_t>(nodes.node_of(rank))];
      latest = std::max(latest, request.arrivals[static_cast<std::size_t>(rank)]);
    }
    request_.arrivals = arrivals_;
  }
  BetweenNodes(const BetweenNodes&) = delete;
  BetweenNodes& operator=(const BetweenNodes&) = delete;

  PlanRequest& request() { return request_; }

 private:
  std::vector<double> arrivals_;
  PlanRequest request_;
};

// The plan of a rank's node.
class NodePlan {
 public:
  NodePlan(Collective collective, PlanBetweenNodes between, const PlanRequest& request, Rank rank)
      : collective_(collective),
        request_(request),
        nodes_(request),
        rank_(rank),
        node_(nodes_.node_of(rank)),
        members_(nodes_.members(node_)),
        at_root_node_(has_root(collective) && node_ == nodes_.node_of(request.root)) {
    BetweenNodes asked(nodes_, request);
    // What a leader has collected lies where the result will be.
    asked.request().in_place = is_alone() ? request.in_place : collective != Collective::bcast;
    header_ = between(asked.request(), node_, program_);
    find_rounds();
  }

  PlanHeader header() const {
    const auto lanes = request_.lanes;
    const auto smallest = static_cast<std::uint32_t>(nodes_.smallest());
    const std::uint32_t led = (lanes + smallest - 1) / smallest;  // lanes of a rank, at most
    PlanHeader header = header_;
    header.algorithm = "two-level";
    header.ranks = request_.ranks;
    header.root = request_.root;
    header.segments = lanes * header_.segments;
    const bool shares = nodes_.count() < request_.ranks;
    // Between members who lead a lane each, what one collects and what the other hands out.
    const std::uint32_t within = shares ? groups() * (lanes > 1 ? 2 : 1) : 0;
    header.tag_span = led * std::max(header_.tag_span, within);
    header.rounds = std::max(header_.rounds, shares ? 1U : 0U);
    header.one_ported = false;
    if (combines(collective_)) header.staging = std::max(header.staging, least_staging);
    return header;
  }

  void write(Program& program) {
    program.clear();
    program.in_place = request_.in_place && (!has_root(collective_) || rank_ == request_.root);
    for (std::uint32_t lane = 0; lane < request_.lanes; ++lane) list_lane(lane);
    std::ranges::stable_sort(items_, {}, [](const Item& item) {
      return std::tuple(item.round, item.lane, item.phase, item.sequence);
    });
    ProgramBuilder build(program);
    std::vector<StepIndex> written(request_.lanes * program_.steps.size());
    for (const Item& item : items_) emit(item, build, written);
    if (copies_ > 0) program.scratch_units = copies_ * request_.lanes * units();
  }

 private:
  Unit units() const { return header_.segments; }
  bool is_alone() const { return members_.size() == 1; }
  Rank leader(std::uint32_t lane) const { return members_[lane % members_.size()]; }
  bool sums() const { return combines(collective_); }

  Unit group_size() const { return (units() + groups_of_a_lane - 1) / groups_of_a_lane; }
  Unit groups() const { return (units() + group_size() - 1) / group_size(); }
  Unit size_of_group(Unit group) const {
    return std::min(group_size(), units() - group * group_size());
  }

  // When a unit of a group is first needed between nodes, and when all of them are complete.
  void find_rounds() {
    first_.assign(groups(), header_.rounds);
    last_.assign(groups(), 0);
    std::vector<bool> is_written(groups(), false);
    for (const Step& step : program_.steps) {
      note(step.slice, step.round, step.kind != StepKind::send, is_written);
      if (step.kind == StepKind::copy || step.kind == StepKind::combine) {
        note(step.from, step.round, false, is_written);
      }
    }
    for (Unit group = 0; group < groups(); ++group) {
      if (first_[group] == header_.rounds) first_[group] = 0;
      // What nobody writes, as at the root of a bcast, is complete from the first on.
      if (!is_written[group]) last_[group] = first_[group];
    }
  }
  void note(const Slice& slice, std::uint32_t round, bool writes, std::vector<bool>& is_written) {
    if (slice.buffer == Buffer::scratch) return;
    for (const Range& range : program_.ranges_of(slice)) {
      for (Unit unit = range.first; unit < range.first + range.count; ++unit) {
        const Unit group = unit / group_size();
        first_[group] = std::min(first_[group], round);
        if (!writes) continue;
        last_[group] = std::max(last_[group], round);
        is_written[group] = true;
      }
    }
  }

  // Those whose parts the leader of a lane collects.
  std::vector<Rank> givers(std::uint32_t lane) const {
    std::vector<Rank> ranks;
    if (sums()) {
      for (const Rank member : members_) {
        if (member != leader(lane)) ranks.push_back(member);
      }
      // In the order in which they come.
      if (!request_.arrivals.empty()) {
        std::ranges::stable_sort(ranks, {}, [&](Rank member) {
          return request_.arrivals[static_cast<std::size_t>(member)];
        });
      }
    } else if (at_root_node_ && leader(lane) != request_.root) {
      ranks.push_back(request_.root);
    }
    return ranks;
  }
  // Those to whom it hands the result.
  std::vector<Rank> takers(std::uint32_t lane) const {
    std::vector<Rank> ranks;
    for (const Rank member : members_) {
      if (member == leader(lane)) continue;
      const bool is_root = at_root_node_ && member == request_.root;
      if (collective_ == Collective::reduce ? is_root : !is_root) ranks.push_back(member);
    }
    return ranks;
  }

  void list_lane(std::uint32_t lane) {
    const bool leads = leader(lane) == rank_;
    bool first = true;
    for (const Rank giver : givers(lane)) {
      if (leads || giver == rank_) {
        for (Unit group = 0; group < groups(); ++group) {
          items_.push_back({first_[group], lane, Phase::collect, group,
                            leads ? giver : leader(lane), !leads, first});
        }
      }
      first = false;
    }
    for (const Rank taker : takers(lane)) {
      if (!leads && taker != rank_) continue;
      for (Unit group = 0; group < groups(); ++group) {
        items_.push_back({last_[group], lane, Phase::hand_out, group, leads ? taker : leader(lane),
                          leads, false});
      }
    }
    if (!leads) return;
    for (StepIndex i = 0; i < program_.steps.size(); ++i) {
      items_.push_back({program_.steps[i].round, lane, Phase::between, i, no_rank, false, false});
    }
  }

  // --- where data lies ------------------------------------------------------------------------

  Slice at(Buffer buffer, std::uint32_t lane, Unit unit, Unit count = 1) const {
    return ProgramBuilder::slice(buffer, lane * units() + unit, count);
  }
  Slice at_group(Buffer buffer, const Item& item) const {
    return at(buffer, item.lane, item.sequence * group_size(), size_of_group(item.sequence));
  }
  bool is_root() const { return has_root(collective_) && rank_ == request_.root; }
  // Of what a leader has of its node: the result's place, or the first copy in scratch where the
  // caller gave none.
  Buffer node_buffer() const {
    if (collective_ == Collective::bcast) return is_root() ? Buffer::send : Buffer::receive;
    return collective_ == Collective::reduce && !is_root() ? Buffer::scratch : Buffer::receive;
  }
  // A slice of the program between nodes, in this rank's buffers.
  Slice mapped(const Slice& slice, std::uint32_t lane) {
    if (slice.range.count == 0) return ProgramBuilder::nothing();
    const Unit all = request_.lanes * units();
    const Unit unit = slice.range.first;
    if (slice.buffer != Buffer::scratch) {
      const Buffer buffer = is_alone() ? slice.buffer : node_buffer();
      if (buffer == Buffer::scratch) copies_ = std::max(copies_, Unit{1});
      return at(buffer, lane, unit, slice.range.count);
    }
    const Unit shift = !is_alone() && node_buffer() == Buffer::scratch ? 1 : 0;
    const Unit copy = unit / units() + shift;
    copies_ = std::max(copies_, copy + 1);
    return ProgramBuilder::slice(Buffer::scratch, copy * all + lane * units() + unit % units(),
                                 slice.range.count);
  }

  void emit(const Item& item, ProgramBuilder& build, std::vector<StepIndex>& written) {
    if (item.phase == Phase::between) {
      emit_between(item, build, written);
    } else if (item.phase == Phase::collect) {
      emit_collect(item, build);
    } else if (item.sends) {
      build.send(item.peer, at_group(node_buffer(), item), item.round);
    } else {
      build.receive(item.peer, at_group(Buffer::receive, item), item.round);
    }
  }

  void emit_collect(const Item& item, ProgramBuilder& build) {
    if (item.sends) {
      const bool own_in_receive = request_.in_place && (is_root() || !has_root(collective_));
      const Buffer own = own_in_receive && sums() ? Buffer::receive : Buffer::send;
      build.send(item.peer, at_group(own, item), item.round);
      return;
    }
    const Buffer buffer = node_buffer();
    if (buffer == Buffer::scratch) copies_ = std::max(copies_, Unit{1});
    const Slice sum = at_group(buffer, item);
    const bool own_is_there =
        buffer == Buffer::receive && request_.in_place && (is_root() || !has_root(collective_));
    if (!sums()) {
      build.receive(item.peer, sum, item.round);
    } else if (item.first && !own_is_there) {
      build.receive(item.peer, sum, item.round);
      build.combine(sum, at_group(Buffer::send, item), item.round);
    } else {
      build.receive_combine(item.peer, sum, item.round);
    }
  }

  void emit_between(const Item& item, ProgramBuilder& build, std::vector<StepIndex>& written) {
    const Step& step = program_.steps[item.sequence];
    StepIndex* const of_lane = written.data() + item.lane * program_.steps.size();
    std::vector<StepIndex> after;
    for (const StepIndex earlier : program_.after_of(step)) after.push_back(of_lane[earlier]);
    const Slice slice = mapped(step.slice, item.lane);
    Rank peer = no_rank;
    if (step.peer != no_rank) {
      const std::span<const Rank> there = nodes_.members(step.peer);
      peer = there[item.lane % there.size()];
    }
    StepIndex& made = of_lane[item.sequence];
    switch (step.kind) {
      case StepKind::send:
        made = build.send(peer, slice, step.round, step.gate, after);
        break;
      case StepKind::receive:
        made = build.receive(peer, slice, step.round, step.gate, after);
        break;
      case StepKind::receive_combine:
        made = build.receive_combine(peer, slice, step.round, step.gate, after);
        break;
      case StepKind::copy:
        made = build.copy(slice, mapped(step.from, item.lane), step.round, step.gate, after);
        break;
      case StepKind::combine:
        made = build.combine(slice, mapped(step.from, item.lane), step.round, step.gate, after);
        break;
    }
  }

  Collective collective_;
  const PlanRequest& request_;
  Nodes nodes_;
  Rank rank_;
  Rank node_;
  std::span<const Rank> members_;
  bool at_root_node_;
  PlanHeader header_;  // of the plan between nodes
  Program program_;    // of this rank's node
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
  std::vector<Item> items_;
  Unit copies_ = 0;  // of the vector, in scratch
};

}  // namespace

PlanHeader plan_two_levels(Collective collective, PlanBetweenNodes between,
                           const PlanRequest& request, Rank rank, Program& program) {
  NodePlan plan(collective, between, request, rank);
  plan.write(program);
  return plan.header();
}

PlanHeader describe_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request) {
  return NodePlan(collective, between, request, request.root).header();
}

std::string check_two_levels(std::string (*check)(const PlanRequest& request),
                             const PlanRequest& request) {
  if (static_cast<std::uint64_t>(request.ranks) * request.segments * request.lanes > (1U << 30)) {
    return std::to_string(request.lanes) + " lanes of " + std::to_string(request.segments) +
           " segments are more than a plan can number (2^30 in all); ask for fewer segments";
  }
  return check(request);
}

}  // namespace sibyl
