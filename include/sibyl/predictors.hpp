/// @file
/// Predictors: when a rank will join the next collective, from when it joined earlier ones.
///
/// What is predicted is one number per call: a rank's arrival behind the first one (its delay), or
/// any other time that repeats itself. A program that says where it stands in its computation needs
/// no history: extrapolate_edge() continues the line.
///
/// Errors: nothing here throws but std::bad_alloc, and only where a predictor is made.
/// Thread safety: plain values; one thread at a time per object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

/// @defgroup predictors Predictors
/// @{

/// When a computation that began at `start` and had done `fraction` of its work at `edge` will be
/// done. `fraction` must lie in (0, 1); else the result is not a number.
double extrapolate_edge(double start, double edge, double fraction);

enum class PredictorKind : std::uint8_t {
  last,  ///< the last value again
  sma,   ///< the mean of the last `window` values (simple moving average)
  ewma,  ///< an average in which each value weighs `weight` and all before it the rest
};

struct PredictorRequest {
  PredictorKind kind = PredictorKind::last;
  std::size_t window = 1;  ///< of sma, at least 1
  double weight = 1;       ///< of ewma, in (0, 1]
};

/// "last", "sma:K", "ewma:A". False when the text is none of these, K is no whole number of 1 to
/// 65536, or A does not lie in (0, 1].
bool predictor_from_text(std::string_view text, PredictorRequest& request);
std::string text_of(const PredictorRequest& request);

/// The predictors that BestPredictor compares, in the order in which a tie is decided.
std::span<const PredictorRequest> standard_predictors();

class Predictor {
 public:
  explicit Predictor(const PredictorRequest& request);

  /// 0 before the first value.
  double prediction() const { return prediction_; }
  void observe(double value);
  std::uint64_t observed() const { return observed_; }

 private:
  PredictorRequest request_;
  std::vector<double> recent_;  ///< of sma: the values of the window, oldest at observed_ % window
  std::uint64_t observed_ = 0;
  double prediction_ = 0;
};

/// All standard predictors side by side. Each value is first compared with what each of them had
/// predicted; the one with the smallest error of late speaks for all.
class BestPredictor {
 public:
  BestPredictor();

  double prediction() const { return predictors_[best_].prediction(); }
  /// How far the best predictor has been off: the mean of its absolute errors, where an error
  /// weighs half as much 5 or 6 calls later. 0 before the second value.
  double error() const { return errors_[best_]; }
  /// Which of standard_predictors() is the best.
  std::size_t best() const { return best_; }
  void observe(double value);
  std::uint64_t observed() const { return predictors_.front().observed(); }

 private:
  std::vector<Predictor> predictors_;
  std::vector<double> errors_;
  std::size_t best_ = 0;
};

/// The ranks from the earliest to the latest. Times that differ by at most `error` from the
/// earliest of their group are ties, and ties stand in rank order, so that noise alone changes no
/// order.
std::vector<Rank> order_of_arrival(std::span<const double> times, double error);

/// @}

}  // namespace sibyl
