// Makes programs ready to run; see prepared.hpp.
#include "executor/prepared.hpp"

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
  for (const Step& step : prepared.program.steps) {
    if (step.kind == StepKind::receive_combine) ++combining;
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

// Orders one round [begin, end) for blocking calls: the receive is posted as early, and finished
// as late, as the dependencies allow. False when the round has two sends or two receives.
bool order_round(const Program& program, const Dependencies& dependencies, StepIndex begin,
                 StepIndex end, std::vector<LockstepOperation>& out) {
  using Kind = LockstepOperation::Kind;
  StepIndex receive = end;
  bool sends = false;
  for (StepIndex i = begin; i < end; ++i) {
    const Step& step = program.steps[i];
    if (is_receive(step)) {
      if (receive != end) return false;
      receive = i;
    } else if (step.kind == StepKind::send) {
      if (sends) return false;
      sends = true;
    }
  }
  StepIndex post = begin;  // the receive is posted before this step
  StepIndex finish = end;  // and finished before this one
  StepIndex combinable = begin;
  if (receive != end) {
    const bool combines = program.steps[receive].kind == StepKind::receive_combine;
    for (const StepIndex before : dependencies.after_of(receive)) {
      post = std::max(post, before + 1);
    }
    for (const StepIndex before : dependencies.data_of(receive)) {
      StepIndex& limit = combines ? combinable : post;
      limit = std::max(limit, before + 1);
    }
    for (StepIndex i = receive + 1; i < end && finish == end; ++i) {
      for (const StepIndex before : dependencies.all_of(i)) {
        if (before == receive) finish = i;
      }
    }
    if (finish < post || finish < combinable) return false;
  }
  bool posted = false;
  const auto post_or_receive = [&](StepIndex at) {
    if (receive == end) return;
    if (at == post) {
      out.push_back({Kind::post_receive, receive});
      posted = true;
    }
    if (at == finish && posted) {
      if (out.back().kind == Kind::post_receive && out.back().step == receive) {
        out.back().kind = Kind::receive;
      } else {
        out.push_back({Kind::finish_receive, receive});
      }
      posted = false;
    }
  };
  for (StepIndex i = begin; i <= end; ++i) {
    post_or_receive(i);
    if (i == end || i == receive) continue;
    const bool local = program.steps[i].peer == no_rank;
    out.push_back({local ? Kind::local : Kind::send, i});
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
  prepared.header = algorithm.describe(request);
  algorithm.plan(request, rank, prepared.program);
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
