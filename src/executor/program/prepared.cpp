// Makes programs ready to run; see prepared.hpp.
#include "executor/program/prepared.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "schedule/dependencies.hpp"
#include "schedule/successors.hpp"

namespace sibyl {
namespace {

bool is_receive(const Step& step) {
  return step.kind == StepKind::receive || step.kind == StepKind::receive_combine;
}

void list_packed_messages(Prepared& prepared) {
  prepared.packed.clear();
  prepared.packed_ordinal.clear();
  const bool blocks =
      prepared.header.partition == Partition::blocks && !combines(prepared.header.collective);
  for (StepIndex i = 0; i < prepared.program.steps.size(); ++i) {
    const Step& step = prepared.program.steps[i];
    const Range& range = step.slice.range;
    const Unit within = range.first % prepared.header.segments;
    const bool several =
        step.slice.list_size > 1 || within + range.count > prepared.header.segments;
    const bool packed = blocks && several && step.peer != no_rank;
    prepared.packed_ordinal.push_back(packed ? static_cast<std::uint32_t>(prepared.packed.size())
                                             : Prepared::not_packed);
    if (packed) prepared.packed.push_back(i);
  }
}

void number_carrying_messages(Prepared& prepared) {
  prepared.carrying_ordinal.clear();
  prepared.carrying = 0;
  if (prepared.header.collective != Collective::allreduce) return;
  for (const Step& step : prepared.program.steps) {
    const bool carries =
        step.peer != no_rank && holds_first_unit(prepared.header, prepared.program, step.slice);
    prepared.carrying_ordinal.push_back(carries ? prepared.carrying++ : Prepared::carries_none);
  }
}

void find_sends_alike(Prepared& prepared) {
  prepared.sends_alike.assign(prepared.program.steps.size(), 0);
  const auto slice_of = [&](StepIndex send) {
    const Slice& slice = prepared.program.steps[send].slice;
    return std::tuple(slice.buffer, slice.range.first, slice.range.count);
  };
  std::vector<StepIndex> sends = prepared.sends;
  std::ranges::sort(sends, {}, slice_of);
  for (std::size_t i = 1; i < sends.size(); ++i) {
    if (slice_of(sends[i - 1]) != slice_of(sends[i])) continue;
    prepared.sends_alike[sends[i - 1]] = prepared.sends_alike[sends[i]] = 1;
  }
}

void count_staging(Prepared& prepared) {
  std::uint32_t combining = 0;
  prepared.staged_parts = 0;
  for (const Step& step : prepared.program.steps) {
    if (step.kind != StepKind::receive_combine) continue;
    ++combining;
    prepared.staged_parts = std::max(prepared.staged_parts, step.slice.range.count);
  }
  const std::uint32_t limit = prepared.header.staging;
  prepared.staging_slots = limit == 0 ? combining : std::min(limit, combining);
}

void list_successors(const Dependencies& dependencies, Prepared& prepared) {
  const std::size_t steps = prepared.program.steps.size();
  prepared.successor.clear();
  prepared.successor_offset.resize(steps + 1);
  prepared.posting_waits.resize(steps);
  prepared.combining_waits.resize(steps);
  std::vector<std::uint32_t> cursor;
  append_successors(dependencies, prepared.program, 0, cursor, prepared.successor,
                    [&](StepIndex i) -> SuccessorPlace {
                      return {prepared.successor_offset[i], prepared.posting_waits[i],
                              prepared.combining_waits[i]};
                    });
  prepared.successor_offset[steps] = static_cast<std::uint32_t>(prepared.successor.size());
}

bool holds(std::span<const StepIndex> steps, StepIndex step) {
  return std::ranges::find(steps, step) != steps.end();
}

// One round [begin, end) of a program, to be performed with blocking calls.
struct Round {
  const Program& program;
  const Dependencies& dependencies;
  StepIndex begin;
  StepIndex end;
  // Its messages; `end` where there is none.
  StepIndex receive = end;
  StepIndex send = end;
  // The receive may start, and be combined, before the step `earliest`, and must be complete before
  // the step `latest`.
  StepIndex earliest = begin;
  StepIndex latest = end;

  bool has_receive() const { return receive != end; }
  bool find_messages();
  bool place_receive();
  bool receive_needs_send() const;
  bool write(std::vector<LockstepOperation>& out) const;
};

// False when there are two sends or two receives.
bool Round::find_messages() {
  for (StepIndex i = begin; i < end; ++i) {
    const Step& step = program.steps[i];
    if (step.peer == no_rank) continue;
    StepIndex& found = is_receive(step) ? receive : send;
    if (found != end) return false;
    found = i;
  }
  return true;
}

// Between the steps that it depends on and those that depend on it; false where that is nowhere.
bool Round::place_receive() {
  if (!has_receive()) return true;
  for (const StepIndex before : dependencies.all_of(receive)) {
    earliest = std::max(earliest, before + 1);
  }
  for (StepIndex i = receive + 1; i < end && latest == end; ++i) {
    if (holds(dependencies.all_of(i), receive)) latest = i;
  }
  return earliest <= latest;
}

// Whether the receive may not start before the send is complete. What only its combination waits
// for does not count.
bool Round::receive_needs_send() const {
  if (!has_receive()) return false;
  const bool combines = program.steps[receive].kind == StepKind::receive_combine;
  return holds(dependencies.after_of(receive), send) ||
         (!combines && holds(dependencies.data_of(receive), send));
}

// The receive comes as late as it may. A send before it does not block: the receive waits for both.
// False when a step in between needs that send to be complete.
bool Round::write(std::vector<LockstepOperation>& out) const {
  using Kind = LockstepOperation::Kind;
  const bool posts = has_receive() && send < latest && !receive_needs_send();
  for (StepIndex i = begin; i <= end; ++i) {
    if (i == latest && has_receive()) out.push_back({Kind::receive, receive});
    if (i == end || i == receive) continue;
    if (i == send) {
      out.push_back({posts ? Kind::post_send : Kind::send, i});
      continue;
    }
    if (posts && i < latest && holds(dependencies.all_of(i), send)) return false;
    out.push_back({Kind::local, i});
  }
  return true;
}

void order_lockstep(const Dependencies& dependencies, Prepared& prepared) {
  const auto& steps = prepared.program.steps;
  prepared.lockstep.clear();
  for (StepIndex begin = 0; begin < steps.size();) {
    StepIndex end = begin;
    while (end < steps.size() && steps[end].round == steps[begin].round) ++end;
    Round round{prepared.program, dependencies, begin, end};
    if (!round.find_messages() || !round.place_receive() || !round.write(prepared.lockstep)) {
      prepared.lockstep.clear();
      return;
    }
    begin = end;
  }
}

}  // namespace

void prepare(const Algorithm& algorithm, const PlanRequest& request, Rank rank,
             Prepared& prepared) {
  prepared.header = plan_one_rank(algorithm, request, rank, prepared.program);
  message_ordinals(prepared.program, prepared.tag);
  list_packed_messages(prepared);
  number_carrying_messages(prepared);
  count_staging(prepared);
  Dependencies dependencies;
  derive_dependencies(prepared.header, prepared.program, dependencies);
  list_successors(dependencies, prepared);
  prepared.sends.clear();
  prepared.receives.clear();
  for (StepIndex i = 0; i < prepared.program.steps.size(); ++i) {
    const Step& step = prepared.program.steps[i];
    if (step.kind == StepKind::send) prepared.sends.push_back(i);
    if (is_receive(step)) prepared.receives.push_back(i);
  }
  find_sends_alike(prepared);
  order_lockstep(dependencies, prepared);
}

}  // namespace sibyl
