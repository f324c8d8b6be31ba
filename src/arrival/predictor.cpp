// Predicts a value from those before it; see sibyl/predictors.hpp.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/read_number.hpp"
#include "sibyl/predictors.hpp"

namespace sibyl {
namespace {

constexpr std::size_t largest_window = 65536;

// A last value follows steps and drift at once, a mean of many values sees through noise; the rest
// lie between.
constexpr std::array standard{
    PredictorRequest{.kind = PredictorKind::last},
    PredictorRequest{.kind = PredictorKind::sma, .window = 4},
    PredictorRequest{.kind = PredictorKind::sma, .window = 16},
    PredictorRequest{.kind = PredictorKind::ewma, .weight = 0.5},
    PredictorRequest{.kind = PredictorKind::ewma, .weight = 0.125},
};

// What one error weighs among those before it.
constexpr double error_weight = 0.125;

}  // namespace

double extrapolate_edge(double start, double edge, double fraction) {
  if (!(fraction > 0 && fraction < 1)) return std::numeric_limits<double>::quiet_NaN();
  return start + (edge - start) / fraction;
}

bool predictor_from_text(std::string_view text, PredictorRequest& request) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  PredictorRequest read;
  if (text == "last") {
    request = read;
    return true;
  }
  if (name == "sma") {
    read.kind = PredictorKind::sma;
    if (!read_number(value, read.window) || read.window < 1 || read.window > largest_window) {
      return false;
    }
  } else if (name == "ewma") {
    read.kind = PredictorKind::ewma;
    if (!read_number(value, read.weight) || !(read.weight > 0 && read.weight <= 1)) return false;
  } else {
    return false;
  }
  request = read;
  return true;
}

std::string text_of(const PredictorRequest& request) {
  switch (request.kind) {
    case PredictorKind::last:
      return "last";
    case PredictorKind::sma:
      return "sma:" + std::to_string(request.window);
    case PredictorKind::ewma: {
      std::array<char, 32> digits{};  // the shortest form of a double has at most 24 characters
      const auto written =
          std::to_chars(digits.data(), digits.data() + digits.size(), request.weight);
      return "ewma:" + std::string(digits.data(), written.ptr);
    }
  }
  return "";
}

std::span<const PredictorRequest> standard_predictors() { return standard; }

Predictor::Predictor(const PredictorRequest& request) : request_(request) {
  if (request.kind == PredictorKind::sma) recent_.reserve(std::max<std::size_t>(request.window, 1));
}

void Predictor::observe(double value) {
  const std::uint64_t before = observed_++;
  if (before == 0 || request_.kind == PredictorKind::last) prediction_ = value;
  if (request_.kind == PredictorKind::ewma) prediction_ += request_.weight * (value - prediction_);
  if (request_.kind != PredictorKind::sma) return;
  if (recent_.size() < request_.window) {
    recent_.push_back(value);
  } else {
    recent_[before % recent_.size()] = value;
  }
  // Summed anew: a running sum would keep the rounding of every value that has left the window.
  prediction_ = std::reduce(recent_.begin(), recent_.end()) / static_cast<double>(recent_.size());
}

BestPredictor::BestPredictor() : errors_(standard.size(), 0.0) {
  predictors_.reserve(standard.size());
  for (const PredictorRequest& request : standard) predictors_.emplace_back(request);
}

void BestPredictor::observe(double value) {
  for (std::size_t i = 0; i < predictors_.size(); ++i) {
    Predictor& predictor = predictors_[i];
    const std::uint64_t before = predictor.observed();
    if (before > 0) {
      // The first errors are averaged evenly, so that the very first one does not stay for long.
      const double weight = std::max(error_weight, 1.0 / static_cast<double>(before));
      errors_[i] += weight * (std::abs(value - predictor.prediction()) - errors_[i]);
    }
    predictor.observe(value);
  }
  best_ =
      static_cast<std::size_t>(std::min_element(errors_.begin(), errors_.end()) - errors_.begin());
}

std::vector<Rank> order_of_arrival(std::span<const double> times, double error) {
  const auto time = [&](Rank rank) { return times[static_cast<std::size_t>(rank)]; };
  std::vector<Rank> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return time(a) < time(b); });
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(), [&, earliest = time(*first)](Rank r) {
      return time(r) - earliest > error;
    });
    std::sort(first, last);
    first = last;
  }
  return order;
}

}  // namespace sibyl
