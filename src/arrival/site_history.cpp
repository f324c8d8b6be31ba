// Learns from the calls of a site; see site_history.hpp.
#include "arrival/site_history.hpp"

#include <algorithm>

namespace sibyl {

void SiteHistory::observe(std::span<const double> arrivals, std::span<const double> departures,
                          Service service) {
  const auto [first, last] = std::ranges::minmax(arrivals);
  for (std::size_t i = 0; i < predictors_.size(); ++i) predictors_[i].observe(arrivals[i] - first);
  Costs& costs = costs_[static_cast<std::size_t>(service)];
  costs.recent[costs.count++ % kept] = std::ranges::max(departures) - last;
  ++observed_;
}

ArrivalPattern SiteHistory::pattern() const {
  ArrivalPattern pattern;
  std::vector<double> errors;
  pattern.times.reserve(predictors_.size());
  errors.reserve(predictors_.size());
  for (const BestPredictor& predictor : predictors_) {
    pattern.times.push_back(predictor.prediction());
    errors.push_back(predictor.error());
  }
  const double first = std::ranges::min(pattern.times);
  for (double& time : pattern.times) time -= first;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  pattern.error = *middle;
  return pattern;
}

double SiteHistory::median(const Costs& costs) {
  std::array<double, kept> sorted = costs.recent;
  const std::size_t count = std::min(costs.count, kept);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

bool SiteHistory::pays() const {
  const Costs& fixed = costs_[static_cast<std::size_t>(Service::fixed_order)];
  const Costs& native = costs_[static_cast<std::size_t>(Service::native)];
  const Costs& predicted = costs_[static_cast<std::size_t>(Service::predicted_order)];
  if (std::min({fixed.count, native.count, predicted.count}) < needed) return true;
  return median(predicted) <= margin * std::max(median(fixed), median(native));
}

}  // namespace sibyl
