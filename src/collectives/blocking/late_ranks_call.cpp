// Learns from one allreduce; see late_ranks_call.hpp.
#include "collectives/blocking/late_ranks_call.hpp"

namespace sibyl {
namespace {

// Who comes by less than this part of the time that a link takes for the vector is not late.
constexpr double late_from = 0.5;

LateRanks* learner_of(CommunicatorState& state, const CommunicatorState::CachedChoice& choice) {
  return choice.by_arrivals == nullptr ? nullptr : state.arrivals.late_ranks();
}

}  // namespace

LateRanksCall::LateRanksCall(CommunicatorState& state,
                             const CommunicatorState::CachedChoice& choice, const CallPlace& place,
                             CountedCall& counted)
    : state_(state), learner_(learner_of(state, choice)) {
  if (learner_ == nullptr) return;
  if (learner_->wants_clocks_compared()) {
    state.arrivals.compare_clocks();
    learner_->clocks_compared();
  }
  const double vector_time = state.known_costs().beta * static_cast<double>(choice.bytes);
  call_ = learner_->enter(choice.bytes, late_from * vector_time, std::chrono::steady_clock::now(),
                          choice.by_arrivals->any_placement);
  if (call_.carries && state.rank() == 0) call_.record.place = place.number();
  const bool known = call_.view != nullptr;
  counted.predicted(known ? Service::predicted_order : Service::fixed_order,
                    known ? call_.view->version : 0);
}

void LateRanksCall::pass(CommunicatorState& state, const CommunicatorState::CachedChoice& choice) {
  if (LateRanks* const learner = learner_of(state, choice); learner != nullptr) {
    learner->pass(choice.bytes);
  }
}

void LateRanksCall::leave() {
  if (learner_ == nullptr) return;
  const LateRanks::Change change = learner_->leave(call_, std::chrono::steady_clock::now());
  for (const SharedView& before : change.withdrawn) {
    if (before != nullptr) state_.programs.drop(before);
  }
  if (change.made == nullptr) return;
  const ArrivalPattern pattern{.times = change.made->times, .version = change.made->version};
  state_.recording.add(RecordedPattern{Collective::allreduce, no_rank, call_.site->bytes, pattern});
}

}  // namespace sibyl
