// The part that learning who is late has in one allreduce (arrival_service/late_ranks.hpp): whether
// its messages carry a record, and whether it is planned for the ranks that were late so far.
//
// Only for calls that would be served otherwise if arrivals were known; where nobody learns, and
// for all others, this costs a test of one pointer.
#pragma once

#include "collectives/call.hpp"

namespace sibyl {

class LateRanksCall {
 public:
  // May throw std::bad_alloc.
  LateRanksCall(CommunicatorState& state, const CommunicatorState::CachedChoice& choice,
                const CallPlace& place, CountedCall& counted);
  LateRanksCall(const LateRanksCall&) = delete;
  LateRanksCall& operator=(const LateRanksCall&) = delete;

  // Instead of one, for a call for which this was chosen and which the governor has the MPI library
  // serve. May throw std::bad_alloc.
  static void pass(CommunicatorState& state, const CommunicatorState::CachedChoice& choice);

  // Whether the call is served by the algorithm that the choice names for arrivals.
  bool knows() const { return call_.view != nullptr; }
  // What is known of them: learnt, or as all calls know it.
  const SharedView& view() const { return knows() ? call_.view : state_.arrivals.view(); }
  // What is to go with the messages; nullptr: nothing.
  Piggyback* record() { return call_.carries ? &call_.record : nullptr; }
  // The call is over. May throw std::bad_alloc.
  void leave();

 private:
  CommunicatorState& state_;
  LateRanks* learner_ = nullptr;
  LateRanks::Call call_;
};

}  // namespace sibyl
