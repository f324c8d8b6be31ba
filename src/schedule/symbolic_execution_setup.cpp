// Before the event loop: initial contents, waiting counts, successor lists, first posts. After it,
// where it got stuck: which step waits for what.
#include <limits>

#include "schedule/semantics.hpp"
#include "schedule/structure.hpp"
#include "schedule/successors.hpp"
#include "schedule/symbolic_execution.hpp"

namespace sibyl {

void SymbolicExecution::place_units(std::span<const Program> programs) {
  const PlanHeader& header = *header_;
  unit_base_.resize(programs.size());
  std::uint32_t used = 0;
  for (std::size_t r = 0; r < programs.size(); ++r) {
    const Program& program = programs[r];
    const auto rank = static_cast<Rank>(r);
    UnitBase& base = unit_base_[r];
    const bool aliases = program.in_place && in_place_aliases(header.collective);
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch}) {
      const auto b = static_cast<int>(buffer);
      if (buffer == Buffer::receive && aliases) {
        base.of[b] = base.of[static_cast<int>(Buffer::send)];
        continue;
      }
      const Extent extent = extent_of(header, rank, program, buffer);
      base.of[b] = used - extent.first;
      used += extent.count;
    }
  }
  units_.assign(used, Value{});
  for (std::size_t r = 0; r < programs.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    Buffer buffer = Buffer::send;
    const Extent input = input_of(header, rank, programs[r], buffer);
    const Interval contribution = input_value(header, rank);
    Value* units = units_.data();
    for (Unit u = input.first; u < input.end(); ++u) {
      units[unit_base_[r].of[static_cast<int>(buffer)] + u] =
          Value{contribution, part_at(header, rank, buffer, u), 0,
                expression_of(static_cast<std::uint32_t>(r)), true};
    }
  }
}

void SymbolicExecution::prepare(std::span<const Program> programs,
                                std::span<const std::uint32_t> first_step) {
  const PlanHeader& header = *header_;
  completed_.clear();
  values_.clear();
  held_.clear();
  ready_.clear();
  successors_.clear();
  steps_.assign(first_step.back() + 1, StepState{});
  ports_.assign(programs.size(), Ports{});
  for (std::size_t r = 0; r < programs.size(); ++r) {
    deriver_.derive(header, programs[r], dependencies_);
    append_successors(dependencies_, programs[r], first_step[r], cursor_, successors_,
                      [&](StepIndex i) -> SuccessorPlace {
                        StepState& step = steps_[first_step[r] + i];
                        return {step.successors, step.wait_post, step.wait_data};
                      });
    for (std::uint32_t i = first_step[r]; i < first_step[r + 1]; ++i) {
      steps_[i].rank = static_cast<Rank>(r);
    }
    ports_[r].next_send = ports_[r].next_receive = first_step[r];
  }
  steps_.back().successors = static_cast<std::uint32_t>(successors_.size());
  for (std::size_t r = 0; r < programs.size(); ++r) {
    for (std::uint32_t i = first_step[r]; i < first_step[r + 1]; ++i) {
      const StepKind kind = programs[r].steps[i - first_step[r]].kind;
      if (steps_[i].wait_post != 0 || in_send_chain(kind) || in_receive_chain(kind)) continue;
      ready_.push_back(i);
    }
    post_sends(static_cast<Rank>(r));
    post_receives(static_cast<Rank>(r));
  }
}

// Why a step that waits for no other step has not been posted.
std::string SymbolicExecution::why_not_posted(std::uint32_t number) {
  const Ports& ports = ports_[static_cast<std::size_t>(steps_[number].rank)];
  const Step& step = step_of(number);
  const bool sends = step.kind == StepKind::send;
  const std::uint32_t next = sends ? ports.next_send : ports.next_receive;
  if (next != number) {
    return "comes in program order after step " + std::to_string(index_of(next)) +
           ", which cannot be posted";
  }
  const std::uint32_t limit = places(step.kind);
  const std::uint32_t taken = sends ? ports.sends : ports.receives;
  if (limit != 0 && taken >= limit) {
    return "finds no place in the port window of " + std::to_string(limit);
  }
  return "finds no slot in the staging pool of " + std::to_string(header_->staging);
}

// Names the step that a shortage of places stops, if there is one; else the first that is stuck.
void SymbolicExecution::explain_deadlock() {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first = none;
  for (std::uint32_t number = 0; number < first_step_.back(); ++number) {
    const StepState& state = steps_[number];
    if (state.complete) continue;
    if (first == none) first = number;
    if (state.posted || state.wait_post != 0) continue;
    const Ports& ports = ports_[static_cast<std::size_t>(state.rank)];
    const bool sends = step_of(number).kind == StepKind::send;
    if ((sends ? ports.next_send : ports.next_receive) != number) continue;
    fail(number, "ends in a deadlock: " + why_not_posted(number));
    return;
  }
  const StepState& state = steps_[first];
  if (state.posted) {
    const std::uint32_t other = partner_[first];
    fail(first, "ends in a deadlock: posted, but its other end never is: " +
                    name_of_step(steps_[other].rank, index_of(other), step_of(other)));
    return;
  }
  if (state.wait_post == 0) {
    fail(first, "ends in a deadlock: " + why_not_posted(first));
    return;
  }
  const auto rank = static_cast<std::size_t>(state.rank);
  deriver_.derive(*header_, programs_[rank], dependencies_);
  for (const StepIndex earlier : dependencies_.all_of(index_of(first))) {
    if (steps_[first_step_[rank] + earlier].complete) continue;
    fail(first, "ends in a deadlock: waits for step " + std::to_string(earlier) +
                    ", which never completes");
    return;
  }
}

}  // namespace sibyl
