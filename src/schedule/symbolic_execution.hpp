// Runs all programs of a plan as dataflow, with sets of contributions instead of numbers.
//
// The rules are those of the executor, in the strictest reading that any executor may take:
//   - Rendezvous: a message moves only when both its ends have been posted.
//   - A step waits as schedule/dependencies.hpp says.
//   - Port window and staging pool: posts in program order, a place is held from the post until the
//     step is complete. (An executor that frees a receive's place on arrival, before it combines,
//     waits for less.) Where the window has fewer places for sends to one rank, all may go there.
//     Sends that need not keep the program's order have one place: later ones that are ready may
//     hold all others, and the earliest alone is sure of one.
//   - Receives that combine are posted in program order anyway.
// One order of execution stands for all of them: no step that may run is ever kept from running by
// another one running first (places are given out in program order), so every order completes the
// same steps; and any two steps that touch the same unit, one of them writing, are ordered by the
// dependencies, so every order reads and writes the same values. `RunOrder` exists so that tests
// can hold this argument against runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/dependencies.hpp"
#include "schedule/value.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

enum class RunOrder : std::uint8_t {
  newest_first,  // of the steps that may run, the one that became ready last
  oldest_first,  // ... the one that became ready first
};

class SymbolicExecution {
 public:
  RunOrder order = RunOrder::newest_first;

  // Runs programs that have passed StructureCheck and Matcher; step i of rank r has the number
  // first_step[r] + i. False with one line in `problem` that names rank, step and round.
  bool run(const PlanHeader& header, std::span<const Program> programs,
           std::span<const std::uint32_t> first_step, std::span<const std::uint32_t> partner,
           std::string& problem);
  // What a unit holds after the run.
  const Value& value(Rank rank, Buffer buffer, Unit unit) const {
    return units_[unit_base_[static_cast<std::size_t>(rank)].of[static_cast<int>(buffer)] + unit];
  }
  std::string describe(const Value& value) const { return values_.describe(value); }
  // The numbers of all steps in the order in which they completed.
  std::span<const std::uint32_t> order_of_completion() const { return completed_; }

 private:
  struct StepState {
    std::uint32_t wait_post = 0;   // predecessors to complete before the step is posted or runs
    std::uint32_t wait_data = 0;   // further ones before a receive_combine combines
    std::uint32_t successors = 0;  // begin of its list; the end is the begin of the next
    Rank rank = 0;
    std::uint32_t held = 0;  // of a message that waits to be combined: its values in held_
    bool posted = false;
    bool arrived = false;
    bool complete = false;
  };
  // Sends, receives and staged messages of a rank that hold a place, and the first step of each
  // chain that has not been posted.
  struct Ports {
    std::uint32_t next_send = 0;
    std::uint32_t next_receive = 0;
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
    std::uint32_t staged = 0;
  };
  struct UnitBase {
    std::uint32_t of[3];  // unit u of buffer b is units_[of[b] + u], modulo 2^32
  };
  class Cursor;

  void place_units(std::span<const Program> programs);
  void prepare(std::span<const Program> programs, std::span<const std::uint32_t> first_step);
  const Step& step_of(std::uint32_t number) const;
  StepIndex index_of(std::uint32_t number) const;
  bool in_send_chain(StepKind kind) const;
  bool in_receive_chain(StepKind kind) const;
  std::uint32_t places(StepKind kind) const;
  bool place_free(const Ports& ports, const Step& step) const;
  void free_to_post(std::uint32_t number);
  void post_sends(Rank rank);
  void post_receives(Rank rank);
  void complete(std::uint32_t number);
  bool fire(std::uint32_t number);
  bool transfer(std::uint32_t send, std::uint32_t receive);
  bool run_local(std::uint32_t number);
  bool combine_held(std::uint32_t number);
  bool read(std::uint32_t number, const Slice& slice, Unit unit, Value& value);
  bool write(std::uint32_t number, Unit unit, const Value& value);
  bool combine(std::uint32_t number, Unit unit, const Value& left);
  bool apply(std::uint32_t number, Unit unit, const Value& value);
  void end_what_lies_under(Rank rank);
  bool fail(std::uint32_t number, const std::string& what);
  void explain_deadlock();
  std::string why_not_posted(std::uint32_t number);

  const PlanHeader* header_ = nullptr;
  std::span<const Program> programs_;
  std::span<const std::uint32_t> first_step_;
  std::span<const std::uint32_t> partner_;
  std::string* problem_ = nullptr;
  std::vector<std::uint32_t> completed_;

  DependencyDeriver deriver_;
  Dependencies dependencies_;
  ValuePool values_;
  std::vector<Value> units_;
  std::vector<UnitBase> unit_base_;
  std::vector<StepState> steps_;
  std::vector<std::uint32_t> successors_;  // number * 2 + (only the combination waits)
  std::vector<std::uint32_t> cursor_;
  std::vector<Ports> ports_;
  std::vector<std::uint32_t> ready_;
  std::vector<Value> held_;
};

}  // namespace sibyl
