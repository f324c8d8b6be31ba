// The event loop and the moves of values. Setting up and explaining a deadlock are in
// symbolic_execution_setup.cpp.
#include "schedule/symbolic_execution.hpp"

#include <algorithm>

#include "schedule/semantics.hpp"
#include "schedule/structure.hpp"
#include "schedule/successors.hpp"

namespace sibyl {

// Walks over the units of a slice, in its order.
class SymbolicExecution::Cursor {
 public:
  Cursor(const Program& program, const Slice& slice)
      : ranges_(program.ranges_of(slice)), left_(slice.range.count) {}
  bool next(Unit& unit) {
    if (left_ == 0) return false;
    --left_;
    while (offset_ == ranges_[range_].count) {
      ++range_;
      offset_ = 0;
    }
    unit = ranges_[range_].first + offset_++;
    return true;
  }

 private:
  std::span<const Range> ranges_;
  std::size_t range_ = 0;
  Unit offset_ = 0;
  Unit left_;
};

bool SymbolicExecution::run(const PlanHeader& header, std::span<const Program> programs,
                            std::span<const std::uint32_t> first_step,
                            std::span<const std::uint32_t> partner, std::string& problem) {
  header_ = &header;
  programs_ = programs;
  first_step_ = first_step;
  partner_ = partner;
  problem_ = &problem;
  place_units(programs);
  prepare(programs, first_step);
  std::size_t oldest = 0;
  while (oldest < ready_.size()) {
    std::uint32_t number = 0;
    if (order == RunOrder::newest_first) {
      number = ready_.back();
      ready_.pop_back();
    } else {
      number = ready_[oldest++];
    }
    if (!fire(number)) return false;
  }
  if (completed_.size() == first_step.back()) return true;
  explain_deadlock();
  return false;
}

const Step& SymbolicExecution::step_of(std::uint32_t number) const {
  const auto rank = static_cast<std::size_t>(steps_[number].rank);
  return programs_[rank].steps[number - first_step_[rank]];
}

StepIndex SymbolicExecution::index_of(std::uint32_t number) const {
  return number - first_step_[static_cast<std::size_t>(steps_[number].rank)];
}

bool SymbolicExecution::in_send_chain(StepKind kind) const {
  return kind == StepKind::send && header_->window.sends != 0;
}

bool SymbolicExecution::in_receive_chain(StepKind kind) const {
  return kind == StepKind::receive_combine ||
         (kind == StepKind::receive && header_->window.receives != 0);
}

// In the port window; 0 is no limit.
std::uint32_t SymbolicExecution::places(StepKind kind) const {
  const PortWindow& window = header_->window;
  if (kind != StepKind::send) return window.receives;
  // Later sends that are ready may have all places but that of the earliest.
  if (!window.in_order) return std::min(window.sends, 1U);
  return window.sends_to_one == 0 ? window.sends : std::min(window.sends, window.sends_to_one);
}

bool SymbolicExecution::place_free(const Ports& ports, const Step& step) const {
  const std::uint32_t limit = places(step.kind);
  if (limit != 0 && (step.kind == StepKind::send ? ports.sends : ports.receives) >= limit) {
    return false;
  }
  return step.kind != StepKind::receive_combine || header_->staging == 0 ||
         ports.staged < header_->staging;
}

void SymbolicExecution::free_to_post(std::uint32_t number) {
  const StepKind kind = step_of(number).kind;
  if (in_send_chain(kind)) {
    post_sends(steps_[number].rank);
  } else if (in_receive_chain(kind)) {
    post_receives(steps_[number].rank);
  } else {
    ready_.push_back(number);
  }
}

void SymbolicExecution::post_sends(Rank rank) {
  const auto r = static_cast<std::size_t>(rank);
  Ports& ports = ports_[r];
  for (; ports.next_send < first_step_[r + 1]; ++ports.next_send) {
    const Step& step = step_of(ports.next_send);
    if (!in_send_chain(step.kind)) continue;
    if (steps_[ports.next_send].wait_post != 0 || !place_free(ports, step)) return;
    ++ports.sends;
    ready_.push_back(ports.next_send);
  }
}

void SymbolicExecution::post_receives(Rank rank) {
  const auto r = static_cast<std::size_t>(rank);
  Ports& ports = ports_[r];
  for (; ports.next_receive < first_step_[r + 1]; ++ports.next_receive) {
    const Step& step = step_of(ports.next_receive);
    if (!in_receive_chain(step.kind)) continue;
    if (steps_[ports.next_receive].wait_post != 0 || !place_free(ports, step)) return;
    ++ports.receives;
    ports.staged += step.kind == StepKind::receive_combine ? 1 : 0;
    ready_.push_back(ports.next_receive);
  }
}

// A step that may run: local, or a message to be posted, or one that has arrived and may combine.
bool SymbolicExecution::fire(std::uint32_t number) {
  StepState& state = steps_[number];
  const StepKind kind = step_of(number).kind;
  if (kind == StepKind::copy || kind == StepKind::combine) return run_local(number);
  if (state.arrived) return combine_held(number);
  state.posted = true;
  const std::uint32_t other = partner_[number];
  if (!steps_[other].posted) return true;
  return kind == StepKind::send ? transfer(number, other) : transfer(other, number);
}

void SymbolicExecution::complete(std::uint32_t number) {
  completed_.push_back(number);
  StepState& state = steps_[number];
  state.complete = true;
  const std::uint32_t end = steps_[number + 1].successors;
  for (std::uint32_t i = state.successors; i < end; ++i) {
    const std::uint32_t successor = Release::step(successors_[i]);
    StepState& waiting = steps_[successor];
    if (!Release::of_combination(successors_[i])) {
      if (--waiting.wait_post == 0) free_to_post(successor);
    } else if (--waiting.wait_data == 0 && waiting.arrived) {
      ready_.push_back(successor);
    }
  }
  const StepKind kind = step_of(number).kind;
  Ports& ports = ports_[static_cast<std::size_t>(state.rank)];
  if (in_send_chain(kind)) {
    --ports.sends;
    post_sends(state.rank);
  } else if (in_receive_chain(kind)) {
    --ports.receives;
    ports.staged -= kind == StepKind::receive_combine ? 1 : 0;
    post_receives(state.rank);
  }
}

bool SymbolicExecution::transfer(std::uint32_t send, std::uint32_t receive) {
  const Step& sent = step_of(send);
  const Step& received = step_of(receive);
  StepState& state = steps_[receive];
  const bool hold = received.kind == StepKind::receive_combine && state.wait_data != 0;
  if (hold) state.held = static_cast<std::uint32_t>(held_.size());
  const auto& from = programs_[static_cast<std::size_t>(steps_[send].rank)];
  const auto& to = programs_[static_cast<std::size_t>(state.rank)];
  Cursor source(from, sent.slice);
  Cursor target(to, received.slice);
  Unit source_unit = 0;
  Unit target_unit = 0;
  Value value;
  while (source.next(source_unit) && target.next(target_unit)) {
    if (!read(send, sent.slice, source_unit, value)) return false;
    if (hold) {
      held_.push_back(value);
    } else if (!apply(receive, target_unit, value)) {
      return false;
    }
  }
  complete(send);
  if (hold) {
    state.arrived = true;
    // Completing the send can have completed what the combination waits for only at another rank's
    // program, never here: a rank sends nothing to itself.
    return true;
  }
  complete(receive);
  return true;
}

bool SymbolicExecution::combine_held(std::uint32_t number) {
  const Step& step = step_of(number);
  const StepState& state = steps_[number];
  Cursor target(programs_[static_cast<std::size_t>(state.rank)], step.slice);
  Unit unit = 0;
  for (std::uint32_t i = state.held; target.next(unit); ++i) {
    const Value value = held_[i];
    if (!combine(number, unit, value)) return false;
  }
  complete(number);
  return true;
}

bool SymbolicExecution::run_local(std::uint32_t number) {
  const Step& step = step_of(number);
  const Program& program = programs_[static_cast<std::size_t>(steps_[number].rank)];
  Cursor source(program, step.from);
  Cursor target(program, step.slice);
  Unit source_unit = 0;
  Unit target_unit = 0;
  Value value;
  while (source.next(source_unit) && target.next(target_unit)) {
    if (!read(number, step.from, source_unit, value)) return false;
    if (!apply(number, target_unit, value)) return false;
  }
  complete(number);
  return true;
}

bool SymbolicExecution::apply(std::uint32_t number, Unit unit, const Value& value) {
  const StepKind kind = step_of(number).kind;
  const bool combines = kind == StepKind::combine || kind == StepKind::receive_combine;
  return combines ? combine(number, unit, value) : write(number, unit, value);
}

bool SymbolicExecution::read(std::uint32_t number, const Slice& slice, Unit unit, Value& value) {
  const StepState& state = steps_[number];
  value = this->value(state.rank, slice.buffer, unit);
  if (value.holds_nothing()) {
    return fail(number, "reads unit " + std::to_string(unit) + " of " +
                            std::string(name_of(slice.buffer)) + ", which holds nothing");
  }
  if (value.own && step_of(number).gate == Gate::on_start) {
    return fail(number, "is open from the start but reads this rank's own contribution");
  }
  return true;
}

bool SymbolicExecution::combine(std::uint32_t number, Unit unit, const Value& left) {
  const Slice& slice = step_of(number).slice;
  Value right;
  if (!read(number, slice, unit, right)) return false;
  Value result;
  const CombineFault fault = values_.combine(left, right, header_->keeps_order, result);
  if (fault == CombineFault::none) return write(number, unit, result);
  const std::string operands = values_.describe(left) + " with " + values_.describe(right);
  if (fault == CombineFault::counted_twice) {
    return fail(number, "counts a contribution twice: combines " + operands);
  }
  if (fault == CombineFault::wrong_order) {
    return fail(number, "breaks the order of operands: combines " + operands);
  }
  return fail(number, "combines different parts of the vector: part " + std::to_string(left.part) +
                          " with part " + std::to_string(right.part));
}

bool SymbolicExecution::write(std::uint32_t number, Unit unit, const Value& value) {
  const Step& step = step_of(number);
  const StepState& state = steps_[number];
  const auto buffer = static_cast<int>(step.slice.buffer);
  Value& target = units_[unit_base_[static_cast<std::size_t>(state.rank)].of[buffer] + unit];
  if (target.own && step.gate == Gate::on_start) {
    return fail(number, "is open from the start but overwrites this rank's own contribution");
  }
  const Unit copy = units_of_a_copy(*header_);
  if (step.slice.buffer != Buffer::scratch) {
    const std::uint32_t part = part_at(*header_, state.rank, step.slice.buffer, unit);
    if (value.part != part) {
      return fail(number, "puts unit " + std::to_string(value.part) + " where unit " +
                              std::to_string(part) + " of " +
                              std::string(name_of(step.slice.buffer)) + " belongs");
    }
  } else if (copy != 0) {
    const std::uint32_t part = part_at(*header_, state.rank, Buffer::send, unit % copy);
    if (value.part != part) {
      return fail(number, "puts part " + std::to_string(value.part) + " into unit " +
                              std::to_string(unit) + " of scratch, the place of part " +
                              std::to_string(part));
    }
  }
  if (step.slice.buffer == Buffer::receive) end_what_lies_under(state.rank);
  target = value;
  target.own = false;
  return true;
}

// The result of a reduce-scatter in place lies over its vector.
void SymbolicExecution::end_what_lies_under(Rank rank) {
  const Program& program = programs_[static_cast<std::size_t>(rank)];
  if (!program.in_place || !scatters_sums(header_->collective)) return;
  const Extent vector = extent_of(*header_, rank, program, Buffer::send);
  const std::uint32_t base = unit_base_[static_cast<std::size_t>(rank)].of[0];
  for (Unit u = vector.first; u < vector.end(); ++u) units_[base + u] = Value{};
}

bool SymbolicExecution::fail(std::uint32_t number, const std::string& what) {
  *problem_ = name_of_step(steps_[number].rank, index_of(number), step_of(number)) + " " + what;
  return false;
}

}  // namespace sibyl
