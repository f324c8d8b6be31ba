// The steps of both levels put together; see node_plan.hpp.
#include "planners/node_plan.hpp"

#include <algorithm>
#include <tuple>

namespace sibyl {
namespace {

// Messages of members that a leader may have under way or not yet added up.
constexpr std::uint32_t least_staging = 4;
constexpr Unit groups_of_a_lane = 16;

}  // namespace

SegmentGroups::SegmentGroups(const PlanHeader& header, const Program& program)
    : blocks_(header.partition == Partition::blocks ? static_cast<Unit>(header.ranks) : 1),
      segments_(header.segments),
      size_(std::min(segments_, (blocks_ * segments_ + groups_of_a_lane - 1) / groups_of_a_lane)),
      first_(count(), header.rounds),
      last_(count(), 0) {
  std::vector<bool> is_written(count(), false);
  for (const Step& step : program.steps) {
    if (step.slice.buffer != Buffer::scratch) {
      note(program.ranges_of(step.slice), step.round, step.kind != StepKind::send, is_written);
    }
    const bool is_local = step.kind == StepKind::copy || step.kind == StepKind::combine;
    if (is_local && step.from.buffer != Buffer::scratch) {
      note(program.ranges_of(step.from), step.round, false, is_written);
    }
  }
  for (Unit group = 0; group < count(); ++group) {
    if (first_[group] == header.rounds) first_[group] = 0;
    // What nobody writes, as at the root of a bcast, is complete from the first on.
    if (!is_written[group]) last_[group] = first_[group];
  }
}

void SegmentGroups::note(std::span<const Range> ranges, std::uint32_t round, bool writes,
                         std::vector<bool>& is_written) {
  for (const Range& range : ranges) {
    for (Unit unit = range.first; unit < range.first + range.count; ++unit) {
      const Unit group = group_of(unit);
      first_[group] = std::min(first_[group], round);
      if (!writes) continue;
      last_[group] = std::max(last_[group], round);
      is_written[group] = true;
    }
  }
}

Range SegmentGroups::segments(Unit group) const {
  const Unit first = group % of_a_block() * size_;
  return {first, std::min(size_, segments_ - first)};
}

NodePlan::NodePlan(PlanBetweenNodes between, const PlanRequest& request, const Nodes& nodes,
                   Rank node, bool in_place)
    : request_(request),
      nodes_(nodes),
      node_(node),
      members_(nodes.members(node)),
      header_(plan_between(between, request, nodes, node, in_place, between_)),
      groups_(header_, between_) {}

// Every node is one rank, which comes when the last of its ranks does.
PlanHeader NodePlan::plan_between(PlanBetweenNodes between, const PlanRequest& request,
                                  const Nodes& nodes, Rank node, bool in_place, Program& program) {
  PlanRequest asked = request;
  asked.ranks = nodes.count();
  asked.root = nodes.node_of(request.root);
  asked.in_place = in_place;
  asked.ranks_per_node = 1;
  asked.nodes = {};
  asked.sizes = {};
  asked.lanes = 1;
  asked.background = false;
  asked.schedule = nullptr;
  std::vector<double> arrivals;
  if (!request.arrivals.empty()) {
    arrivals.assign(static_cast<std::size_t>(nodes.count()), 0);
    for (Rank rank = 0; rank < request.ranks; ++rank) {
      double& latest = arrivals[static_cast<std::size_t>(nodes.node_of(rank))];
      latest = std::max(latest, request.arrivals[static_cast<std::size_t>(rank)]);
    }
    asked.arrivals = arrivals;
  }
  return between(asked, node, program);
}

PlanHeader NodePlan::header() const {
  const auto lanes = request_.lanes;
  const auto smallest = static_cast<std::uint32_t>(nodes_.smallest());
  const std::uint32_t led = (lanes + smallest - 1) / smallest;  // lanes of a rank, at most
  const bool shares = nodes_.count() < request_.ranks;
  PlanHeader header = header_;
  header.algorithm = "two-level";
  header.ranks = request_.ranks;
  header.root = request_.root;
  header.segments = lanes * header_.segments;
  // Between members who lead a lane each, what one collects and what the other hands out.
  const std::uint32_t within = shares ? messages_within() * (lanes > 1 ? 2 : 1) : 0;
  header.tag_span = led * std::max(header_.tag_span, within);
  header.rounds = std::max(header_.rounds, shares ? 1U : 0U);
  header.one_ported = false;
  if (combines(header.collective)) header.staging = std::max(header.staging, least_staging);
  return header;
}

void NodePlan::write(Rank rank, Program& program) {
  program.clear();
  rank_ = rank;
  copies_ = 0;
  items_.clear();
  program.in_place = works_in_place(rank);
  for (std::uint32_t lane = 0; lane < request_.lanes; ++lane) {
    list_within(lane);
    if (leader(lane) != rank) continue;
    for (StepIndex i = 0; i < between_.steps.size(); ++i) {
      add({between_.steps[i].round, lane, Phase::between, i, no_rank, false, false});
    }
  }
  std::ranges::stable_sort(items_, {}, [](const TwoLevelStep& item) {
    return std::tuple(item.round, item.lane, item.phase, item.sequence);
  });
  ProgramBuilder build(program);
  begin(build);
  std::vector<StepIndex> written(request_.lanes * between_.steps.size());
  for (const TwoLevelStep& item : items_) {
    if (item.phase == Phase::between) {
      emit_between(item, build, written);
    } else {
      emit_within(item, build);
    }
  }
  if (copies_ > 0) program.scratch_units = copies_ * request_.lanes * segments();
}

void NodePlan::emit_between(const TwoLevelStep& item, ProgramBuilder& build,
                            std::vector<StepIndex>& written) {
  const Step& step = between_.steps[item.sequence];
  StepIndex* const of_lane = written.data() + item.lane * between_.steps.size();
  std::vector<StepIndex> after;
  for (const StepIndex earlier : between_.after_of(step)) after.push_back(of_lane[earlier]);
  const Slice slice = mapped(step.slice, item.lane, build);
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
      made = build.copy(slice, mapped(step.from, item.lane, build), step.round, step.gate, after);
      break;
    case StepKind::combine:
      made =
          build.combine(slice, mapped(step.from, item.lane, build), step.round, step.gate, after);
      break;
  }
}

}  // namespace sibyl
