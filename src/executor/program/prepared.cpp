// Makes programs ready to run; see prepared.hpp.
#include "executor/program/prepared.hpp"

#include <algorithm>

#include "schedule/dependencies.hpp"

namespace sibyl {
namespace {

bool is_receive(const Step& step) {
  return step.kind == StepKind::receive || step.kind == StepKind::receive_combine;
}

void place_packed_messages(Prepared& prepared) {
  prepared.packed_unit.clear();
  prepared.packed_units = 0;
  for (const Step& step : prepared.program.steps) {
    const bool packed = step.slice.list_size > 1 && step.peer != no_rank;
    prepared.packed_unit.push_back(packed ? prepared.packed_units : Prepared::not_packed);
    if (packed) prepared.packed_units += step.slice.range.count;
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

void invert(const Dependencies& dependencies, Prepared& prepared) {
  const auto& steps = prepared.program.steps;
  prepared.posting_waits.assign(steps.size(), 0);
  prepared.combining_waits.assign(steps.size(), 0);
  prepared.successor_offset.assign(steps.size() + 1, 0);
  for (const StepIndex before : dependencies.predecessor) {
    ++prepared.successor_offset[before + 1];
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    prepared.successor_offset[i + 1] += prepared.successor_offset[i];
  }
  prepared.successor.resize(dependencies.predecessor.size());
  std::vector<std::uint32_t> next = prepared.successor_offset;
  for (StepIndex i = 0; i < steps.size(); ++i) {
    const bool combines = steps[i].kind == StepKind::receive_combine;
    for (const StepIndex before : dependencies.after_of(i)) {
      prepared.successor[next[before]++] = i;
      ++prepared.posting_waits[i];
    }
    for (const StepIndex before : dependencies.data_of(i)) {
      prepared.successor[next[before]++] = combines ? i | Prepared::combination : i;
      ++(combines ? prepared.combining_waits[i] : prepared.posting_waits[i]);
    }
  }
}

// Orders one round [begin, end) for blocking calls: the receive comes as late as the dependencies
// allow, and a send before it does not block. False when the round has two sends or two receives,
// or needs more than that.
bool order_round(const Program& program, const Dependencies& dependencies, StepIndex begin,
                 StepIndex end, std::vector<LockstepOperation>& out) {
  using Kind = LockstepOperation::Kind;
  StepIndex receive = end;
  StepIndex send = end;
  for (StepIndex i = begin; i < end; ++i) {
    const Step& step = program.steps[i];
    if (step.peer == no_rank) continue;
    StepIndex& found = is_receive(step) ? receive : send;
    if (found != end) return false;
    found = i;
  }
  StepIndex earliest = begin;  // the receive may start, and be combined, before this step
  StepIndex latest = end;      // and must be complete before this one
  bool after_send = false;     // the receive may not start before the send is complete
  if (receive != end) {
    const bool combines = program.steps[receive].kind == StepKind::receive_combine;
    for (const StepIndex before : dependencies.all_of(receive)) {
      earliest = std::max(earliest, before + 1);
    }
    for (const StepIndex before : dependencies.after_of(receive)) {
      after_send = after_send || before == send;
    }
    for (const StepIndex before : dependencies.data_of(receive)) {
      after_send = after_send || (before == send && !combines);
    }
    for (StepIndex i = receive + 1; i < end && latest == end; ++i) {
      for (const StepIndex before : dependencies.all_of(i)) {
        if (before == receive) latest = i;
      }
    }
    if (latest < earliest) return false;
  }
  const bool posts = receive != end && send < latest && !after_send;
  for (StepIndex i = begin; i <= end; ++i) {
    if (i == latest && receive != end) out.push_back({Kind::receive, receive});
    if (i == end || i == receive) continue;
    if (i == send) {
      out.push_back({posts ? Kind::post_send : Kind::send, i});
      continue;
    }
    for (const StepIndex before : dependencies.all_of(i)) {
      if (posts && before == send && i < latest) return false;
    }
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
    if (!order_round(prepared.program, dependencies, begin, end, prepared.lockstep)) {
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
  place_packed_messages(prepared);
  count_staging(prepared);
  Dependencies dependencies;
  derive_dependencies(prepared.header, prepared.program, dependencies);
  invert(dependencies, prepared);
  prepared.sends.clear();
  prepared.receives.clear();
  for (StepIndex i = 0; i < prepared.program.steps.size(); ++i) {
    const Step& step = prepared.program.steps[i];
    if (step.kind == StepKind::send) prepared.sends.push_back(i);
    if (is_receive(step)) prepared.receives.push_back(i);
  }
  order_lockstep(dependencies, prepared);
}

}  // namespace sibyl
