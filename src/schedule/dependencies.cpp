// Derives predecessor lists by one pass over the program that keeps, per unit, the last writer and
// the readers since. A unit's state counts only if its epoch is the current one, so that nothing is
// cleared between programs: a plan of 2000 ranks has 2000 programs, most of which name few units.
#include "schedule/dependencies.hpp"

#include <algorithm>
#include <limits>

namespace sibyl {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
// Longer lists are not searched for what they make redundant.
constexpr std::size_t short_list = 8;

}  // namespace

Unit data_units(const PlanHeader& header) {
  return header.partition == Partition::vector ? header.segments
                                               : static_cast<Unit>(header.ranks) * header.segments;
}

bool holds_first_unit(const PlanHeader& header, const Program& program, const Slice& slice) {
  const Unit vector = data_units(header);
  return std::ranges::any_of(program.ranges_of(slice), [vector](const Range& range) {
    const Unit place = range.first % vector;
    return range.count != 0 && (place == 0 || place + range.count > vector);
  });
}

void DependencyDeriver::begin(const PlanHeader& header, const Program& program) {
  const std::size_t steps = program.steps.size();
  if (epoch_ == none || stamp_ >= none - steps) {
    units_.clear();
    seen_.clear();
    covered_.clear();
    epoch_ = stamp_ = 0;
  }
  ++epoch_;
  const Unit data = data_units(header);
  base_[0] = 0;
  base_[1] = program.in_place ? 0 : data;
  overlies_ = program.in_place && scatters_sums(header.collective);
  base_[2] = base_[1] + data;
  limit_[0] = limit_[1] = data;
  limit_[2] = program.scratch_units;
  const std::size_t units = std::size_t{base_[2]} + program.scratch_units;
  if (units_.size() < units) units_.resize(units);
  if (seen_.size() < steps) {
    seen_.resize(steps, 0);
    covered_.resize(steps, 0);
  }
  readers_.clear();
}

DependencyDeriver::UnitState& DependencyDeriver::state(std::uint32_t unit) {
  UnitState& state = units_[unit];
  if (state.epoch != epoch_) state = UnitState{epoch_, none, none};
  return state;
}

void DependencyDeriver::wait_for(StepIndex step) {
  if (seen_[step] == stamp_) return;
  seen_[step] = stamp_;
  candidates_.push_back(step);
}

template <class Visit>
void DependencyDeriver::for_each_unit(const Program& program, const Slice& slice, Visit visit) {
  const auto buffer = static_cast<std::size_t>(slice.buffer);
  if (overlies_ && slice.buffer == Buffer::receive) {
    for (std::uint32_t unit = 0; unit < limit_[buffer]; ++unit) visit(state(unit));
    return;
  }
  for (const Range& range : program.ranges_of(slice)) {
    if (range.first >= limit_[buffer]) continue;
    const Unit count = std::min(range.count, limit_[buffer] - range.first);
    const std::uint32_t first = base_[buffer] + range.first;
    for (std::uint32_t unit = first; unit < first + count; ++unit) visit(state(unit));
  }
}

void DependencyDeriver::read(const Program& program, const Slice& slice, StepIndex step) {
  for_each_unit(program, slice, [&](UnitState& unit) {
    if (unit.writer != none) wait_for(unit.writer);
    readers_.push_back(Reader{step, unit.first_reader});
    unit.first_reader = static_cast<std::uint32_t>(readers_.size() - 1);
  });
}

void DependencyDeriver::write(const Program& program, const Slice& slice, StepIndex step) {
  for_each_unit(program, slice, [&](UnitState& unit) {
    // The readers since the last write wait for that write themselves.
    if (unit.first_reader == none && unit.writer != none && unit.writer != step) {
      wait_for(unit.writer);
    }
    for (std::uint32_t i = unit.first_reader; i != none; i = readers_[i].next) {
      if (readers_[i].step != step) wait_for(readers_[i].step);
    }
    unit.writer = step;
    unit.first_reader = none;
  });
}

// Appends the candidates to the list that begins at `begin` and holds the `after` part so far.
void DependencyDeriver::append_data(Dependencies& out, std::uint32_t begin) {
  if (candidates_.empty()) return;
  const std::size_t explicit_count = out.predecessor.size() - begin;
  if (explicit_count + candidates_.size() > 1) {
    const auto cover = [&](StepIndex step) {
      const auto list = out.all_of(step);
      if (list.size() > short_list) return;
      for (const StepIndex earlier : list) covered_[earlier] = stamp_;
    };
    for (std::size_t i = 0; i < explicit_count; ++i) cover(out.predecessor[begin + i]);
    for (const StepIndex step : candidates_) cover(step);
    std::sort(candidates_.begin(), candidates_.end());
  }
  for (const StepIndex step : candidates_) {
    if (covered_[step] != stamp_) out.predecessor.push_back(step);
  }
}

void DependencyDeriver::derive(const PlanHeader& header, const Program& program,
                               Dependencies& out) {
  begin(header, program);
  const auto steps = static_cast<StepIndex>(program.steps.size());
  out.predecessor.clear();
  out.offset.resize(steps + 1);
  out.data_offset.resize(steps);
  for (StepIndex i = 0; i < steps; ++i) {
    const Step& step = program.steps[i];
    ++stamp_;
    const auto begin = static_cast<std::uint32_t>(out.predecessor.size());
    out.offset[i] = begin;
    for (const StepIndex earlier : program.after_of(step)) {
      if (earlier >= i || seen_[earlier] == stamp_) continue;
      seen_[earlier] = stamp_;
      out.predecessor.push_back(earlier);
    }
    std::sort(out.predecessor.begin() + begin, out.predecessor.end());
    out.data_offset[i] = static_cast<std::uint32_t>(out.predecessor.size());
    candidates_.clear();
    switch (step.kind) {
      case StepKind::send:
        read(program, step.slice, i);
        break;
      case StepKind::receive:
      case StepKind::receive_combine:
        write(program, step.slice, i);
        break;
      case StepKind::copy:
      case StepKind::combine:
        read(program, step.from, i);
        write(program, step.slice, i);
        break;
    }
    append_data(out, begin);
  }
  out.offset[steps] = static_cast<std::uint32_t>(out.predecessor.size());
}

void derive_dependencies(const PlanHeader& header, const Program& program, Dependencies& out) {
  DependencyDeriver deriver;
  deriver.derive(header, program, out);
}

void message_ordinals(const Program& program, std::vector<std::uint32_t>& ordinal) {
  ordinal.assign(program.steps.size(), 0);
  struct Message {
    std::uint64_t pair;  // peer and direction
    StepIndex step;
  };
  std::vector<Message> messages;
  messages.reserve(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.peer == no_rank) continue;
    const std::uint64_t incoming = step.kind == StepKind::send ? 0 : 1;
    messages.push_back(
        {static_cast<std::uint64_t>(step.peer) * 2 + incoming, static_cast<StepIndex>(i)});
  }
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.step < b.step;
  });
  for (std::size_t i = 1; i < messages.size(); ++i) {
    if (messages[i].pair != messages[i - 1].pair) continue;
    ordinal[messages[i].step] = ordinal[messages[i - 1].step] + 1;
  }
}

}  // namespace sibyl
