// One call of a collective whose ranks may know who will be late.
//
// Where nothing is predicted all of this is a look at a pointer.
#pragma once

#include "collectives/call.hpp"

namespace sibyl {

class PredictedCall {
 public:
  explicit PredictedCall(CommunicatorState& state)
      : state_(state), predictor_(state.arrivals.predictor()) {
    if (predictor_ != nullptr) predictor_->begin_call();
  }
  // The call is over; the time for which it is measured ends here.
  ~PredictedCall() {
    if (predictor_ != nullptr) predictor_->leave(call_);
  }
  PredictedCall(const PredictedCall&) = delete;
  PredictedCall& operator=(const PredictedCall&) = delete;

  // The arguments are known, and so is the algorithm that the call would have without prediction,
  // nullptr for native: returns the one that it has.
  const Algorithm* choose(Collective collective, int root, std::uint64_t bytes,
                          const Algorithm* algorithm, CountedCall& counted);
  // The program, in the predicted order where this call has one. May throw std::bad_alloc.
  const Prepared& program(const Algorithm& algorithm, int root, bool in_place);

 private:
  CommunicatorState& state_;
  ArrivalPredictor* predictor_;
  ArrivalPredictor::Call call_;
};

}  // namespace sibyl
