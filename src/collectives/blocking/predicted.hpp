// The part that prediction has in one blocking call: it notes when this rank joins and leaves the
// call, and says whether the call is served in the predicted order of arrival, in the usual order,
// or as a trial by the MPI library (arrival_service/arrival_predictor.hpp).
//
// Where nothing is predicted, which is the default, this costs a test of one pointer.
#pragma once

#include "collectives/call.hpp"

namespace sibyl {

class PredictedCall {
 public:
  PredictedCall(CommunicatorState& state, const CallPlace& place)
      : state_(state), predictor_(state.arrivals.predictor()), place_(place) {
    if (predictor_ != nullptr) predictor_->begin_call();
  }
  // The call is over: this is the departure that is noted. (Of one that the MPI library is about to
  // serve it is when that has served it; see CountedCall::end_left.)
  ~PredictedCall() {
    if (predictor_ == nullptr) return;
    if (call_.service != Service::native) predictor_->leave(call_);
    state_.arrivals.end_following();
  }
  PredictedCall(const PredictedCall&) = delete;
  PredictedCall& operator=(const PredictedCall&) = delete;

  // A reduction that is to be chosen and planned by what is known of its own line of the program.
  void follow_line(Collective collective, int root, std::uint64_t bytes) {
    if (predictor_ != nullptr) state_.arrivals.follow_line({collective, root, bytes});
  }
  // Chooses what serves the call, now that its arguments are known. `algorithm` would serve it
  // without prediction; nullptr, here and as the result, is the MPI library.
  const Algorithm* choose(Collective collective, int root, std::uint64_t bytes,
                          const Algorithm* algorithm, CountedCall& counted);
  // This rank's program, in the predicted order where the call is served so. May throw
  // std::bad_alloc.
  const Prepared& program(const Algorithm& algorithm, int root, bool in_place);

 private:
  CommunicatorState& state_;
  ArrivalPredictor* predictor_;
  CallPlace place_;
  ArrivalPredictor::Call call_;
};

}  // namespace sibyl
