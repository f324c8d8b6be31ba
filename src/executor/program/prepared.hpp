// A program made ready to run: tags, dependencies, places in the workspace, derived once.
//
// Prepared programs are cached per communicator and run again and again; a run allocates nothing
// once the workspace has grown to the size of the call.
#pragma once

#include <cstdint>
#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// One operation of the lockstep engine (lockstep.cpp).
struct LockstepOperation {
  enum class Kind : std::uint8_t {
    local,      // copy or combine
    send,       // blocking send
    post_send,  // start a send that the next receive finishes
    receive,  // blocking receive, then the send that was started, then what belongs to the receive
  };
  Kind kind;
  StepIndex step;
};

struct Prepared {
  static constexpr Unit not_packed = ~Unit{0};

  PlanHeader header;
  Program program;

  // The message's tag, relative to the base of the call; 0 for local steps.
  std::vector<std::uint32_t> tag;
  // For a message whose slice has several ranges: its first unit in the packed area of the
  // workspace, where the message is put together or taken apart. Else not_packed.
  std::vector<Unit> packed_unit;
  Unit packed_units = 0;
  std::uint32_t staging_slots = 0;  // for the messages of receive_combine
  Unit staged_parts = 0;            // the most parts of the vector in one of them

  // The dataflow engine's lists (dataflow.cpp): whom the completion of a step releases
  // (schedule/successors.hpp), and how many releases a step needs before it may be posted and
  // before it may be combined.
  std::vector<std::uint32_t> successor_offset;
  std::vector<std::uint32_t> successor;
  std::vector<std::uint32_t> posting_waits;
  std::vector<std::uint32_t> combining_waits;
  std::vector<StepIndex> sends;     // in program order, to be taken so where the window limits
  std::vector<StepIndex> receives;  // likewise, receive_combine included

  // Not empty when the program can run round by round with blocking calls: at most one send and
  // one receive in a round.
  std::vector<LockstepOperation> lockstep;
};

// Fills `prepared` with the program of `rank`; the request must have passed check_request.
void prepare(const Algorithm& algorithm, const PlanRequest& request, Rank rank, Prepared& prepared);

}  // namespace sibyl
