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
  static constexpr std::uint32_t not_packed = ~std::uint32_t{0};
  static constexpr std::uint32_t carries_none = ~std::uint32_t{0};

  PlanHeader header;
  Program program;

  // The message's tag, relative to the base of the call; 0 for local steps.
  std::vector<std::uint32_t> tag;
  // Messages of several ranges or blocks, which may have to be put together and taken apart in the
  // packed area of the workspace, and the place of each among them; else not_packed.
  std::vector<StepIndex> packed;
  std::vector<std::uint32_t> packed_ordinal;
  // Of an allreduce: the place of each message among those that can carry a record (piggyback.hpp),
  // and how many these are; else carries_none. Empty for other collectives.
  std::vector<std::uint32_t> carrying_ordinal;
  std::uint32_t carrying = 0;
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
  // Of each step: whether it is one of several sends of one slice, which a window takes together.
  std::vector<std::uint8_t> sends_alike;

  // Not empty when the program can run round by round with blocking calls: at most one send and
  // one receive in a round.
  std::vector<LockstepOperation> lockstep;
};

// Fills `prepared` with the program of `rank`; the request must have passed check_request.
void prepare(const Algorithm& algorithm, const PlanRequest& request, Rank rank, Prepared& prepared);

}  // namespace sibyl
