// Checks of one program that need no other rank and no execution: peers, bounds, rounds, counts.
//
// The first of the verifier's passes; the later ones index without looking because this one has
// looked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/semantics.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// What the pass counts in one program.
struct ProgramCounts {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  std::uint32_t control_messages = 0;  // sent
  std::uint64_t units_sent = 0;
  std::uint64_t units = 0;                  // that exist, in all buffers
  std::uint32_t rounds = 0;                 // 1 + the highest round of a message
  std::uint64_t operator_applications = 0;  // to one unit
};

// "rank 3, step 5 (receive_combine from 1, round 2)"
std::string name_of_step(Rank rank, StepIndex index, const Step& step);

// Empty when the values of a header make sense together.
std::string check_header(const PlanHeader& header, std::size_t programs);

class StructureCheck {
 public:
  // False with one line in `problem` that names rank, step and round.
  bool check(const PlanHeader& header, Rank rank, const Program& program, ProgramCounts& counts,
             std::string& problem);

 private:
  bool check_slice(const Program& program, const Slice& slice, bool written, std::string& problem);
  bool check_parts(const PlanHeader& header, const Slice& slice, std::string& problem);
  bool check_ranges(const Program& program, const Slice& slice, const Extent& extent, bool written,
                    std::string& problem);
  bool check_step(const PlanHeader& header, const Program& program, StepIndex index,
                  ProgramCounts& counts, std::string& problem);
  bool check_message(const PlanHeader& header, const Step& step, std::string& problem);
  bool check_local(const PlanHeader& header, const Program& program, const Step& step,
                   std::string& problem);
  bool names_a_unit_twice(std::span<const Range> first, std::span<const Range> second);

  Rank rank_ = 0;
  Extent extents_[3];
  bool untouchable_receive_ = false;      // rank 0 of an exclusive scan
  std::uint32_t round_ = 0;               // of the previous step
  std::uint32_t next_send_round_ = 0;     // lowest round in which a one-ported rank may send
  std::uint32_t next_receive_round_ = 0;  // and receive
  std::vector<Range> sorted_;
};

}  // namespace sibyl
