// What each step of a program must wait for: the order that its data and its `after` list impose.
//
// Programs run as dataflow. Step b waits for an earlier step a of the same program when both touch
// the same unit and at least one of them writes it (read after write, write after read, write after
// write; `send` and `receive` are one buffer where the program is in place, and in a reduce-scatter
// what goes to `receive` then writes all of `send`), or when b names a in `after`. The executor,
// the verifier and the exporters all use the lists derived here, so that what is proved is what
// runs.
//
// When a step waits:
//   - send, receive, copy, combine start when all predecessors are complete.
//   - receive_combine posts its message when its `after` predecessors are complete; only the
//     combination waits for the data predecessors too. It is complete when it has combined.
// Not in the lists, because they are rules about all steps of a kind: the gate, the port window
// (where one is set, sends are posted in program order among themselves, receives likewise) and
// the staging pool (a slot is taken in program order when a receive_combine posts its message, also
// where there is one for each, and is free again when that message has been combined).
//
// Cost: linear in the number of units that the slices name, plus sorting each (short) list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

// Compact lists of predecessors. Each list has two parts, both ascending and without duplicates:
// the steps that `after` names, then the steps that the data adds to them. Data predecessors that
// another predecessor waits for anyway are left out where that is cheap to see.
struct Dependencies {
  std::vector<std::uint32_t> offset;       // list of step i: [offset[i], offset[i + 1])
  std::vector<std::uint32_t> data_offset;  // its second part begins here
  std::vector<StepIndex> predecessor;

  std::span<const StepIndex> all_of(StepIndex step) const {
    return {predecessor.data() + offset[step], offset[step + 1] - offset[step]};
  }
  std::span<const StepIndex> after_of(StepIndex step) const {
    return {predecessor.data() + offset[step], data_offset[step] - offset[step]};
  }
  std::span<const StepIndex> data_of(StepIndex step) const {
    return {predecessor.data() + data_offset[step], offset[step + 1] - data_offset[step]};
  }
};

// Units that `send` and `receive` may have at a rank: segments of the vector or of all blocks.
Unit data_units(const PlanHeader& header);

// Whether a slice holds the first unit of the vector. Scratch is copies of the vector, each with
// its first unit.
bool holds_first_unit(const PlanHeader& header, const Program& program, const Slice& slice);

// Derives program after program in the same storage. Entries of `after` that are not earlier steps
// and units beyond the buffers' ends are left out (the verifier refuses such programs).
class DependencyDeriver {
 public:
  void derive(const PlanHeader& header, const Program& program, Dependencies& out);

 private:
  struct UnitState {
    std::uint32_t epoch = 0;         // the rest holds only if this is the deriver's epoch
    StepIndex writer = 0;            // last writer
    std::uint32_t first_reader = 0;  // readers since then, newest first
  };
  struct Reader {
    StepIndex step;
    std::uint32_t next;
  };

  void begin(const PlanHeader& header, const Program& program);
  UnitState& state(std::uint32_t unit);
  void read(const Program& program, const Slice& slice, StepIndex step);
  void write(const Program& program, const Slice& slice, StepIndex step);
  void wait_for(StepIndex step);
  void append_data(Dependencies& out, std::uint32_t begin);
  template <class Visit>
  void for_each_unit(const Program& program, const Slice& slice, Visit visit);

  std::vector<UnitState> units_;
  std::vector<Reader> readers_;
  std::vector<std::uint32_t> seen_;     // stamp of the last step that listed this predecessor
  std::vector<std::uint32_t> covered_;  // stamp of the last step that waits for it indirectly
  std::vector<StepIndex> candidates_;
  std::uint32_t epoch_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t base_[3] = {0, 0, 0};   // of each buffer in units_
  std::uint32_t limit_[3] = {0, 0, 0};  // units of each buffer
  bool overlies_ = false;               // `receive` lies anywhere over `send`
};

// The same for one program.
void derive_dependencies(const PlanHeader& header, const Program& program, Dependencies& out);

// For every step the ordinal of its message within its ordered (source, destination) pair, in
// program order; 0 for local steps. The message carries the tag base + ordinal.
void message_ordinals(const Program& program, std::vector<std::uint32_t>& ordinal);

}  // namespace sibyl
