// Learns from one allreduce; see late_ranks_call.hpp.
#include "collectives/blocking/late_ranks_call.hpp"

namespace sibyl {
namespace {

// Who comes by less than this part of the time that a link takes for the vector is not late.
constexpr double late_from = 0.5;

}  // namespace

LateRanksCall::LateRanksCall(CommunicatorState& state,
                             const CommunicatorState::CachedChoice& choice, CountedCall& counted)
    : state_(state) {
  if (choice.by_arrivals == nullptr || state.arrivals.late_ranks() == nullptr) return;
  learner_ = state.arrivals.late_ranks();
  if (learner_->wants_clocks_compared()) {
    state.arrivals.compare_clocks();
    learner_->clocks_compared();
  }
  const double vector_time = state.known_costs().beta * static_cast<double>(choice.bytes);
  call_ = learner_->enter(choice.bytes, late_from * vector_time, std::chrono::steady_clock::now());
  const bool known = call_.view != nullptr;
  counted.predicted(known ? Service::predicted_order : Service::fixed_order,
                    known ? call_.view->version : 0);
}

void LateRanksCall::leave() {
  if (learner_ == nullptr) return;
  const std::uint64_t version = call_.site == nullptr ? 0 : call_.site->version;
  const SharedView before = learner_->leave(call_, std::chrono::steady_clock::now());
  if (before != nullptr) state_.programs.drop(before);
  if (call_.site == nullptr || call_.site->version == version) return;
  const ArrivalPattern pattern{.times = call_.site->view->times, .version = call_.site->version};
  state_.recording.add(RecordedPattern{Collective::allreduce, no_rank, call_.site->bytes, pattern});
}

}  // namespace sibyl
