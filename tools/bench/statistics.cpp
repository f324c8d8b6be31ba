// Order statistics, sign test and Holm's correction; see statistics.hpp.
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sibyl::bench {
namespace {

// The probability of exactly `hits` out of `tosses` of a fair coin.
double coin(std::size_t tosses, std::size_t hits) {
  const auto n = static_cast<double>(tosses);
  const auto k = static_cast<double>(hits);
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                  n * std::log(2.0));
}

}  // namespace

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double place = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double part = place - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

Interval median_interval(std::vector<double> samples, double confidence) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  // The widest rank cut off at either end whose probability stays below half of the rest.
  const double tail = (1 - confidence) / 2;
  double below = 0;
  std::size_t cut = 0;
  while (cut < n / 2) {
    below += coin(n, cut);
    if (below > tail) break;
    ++cut;
  }
  const std::size_t first = cut == 0 ? 0 : cut - 1;
  return {samples[first], samples[n - 1 - first]};
}

double sign_test(const std::vector<double>& samples) {
  std::size_t positive = 0;
  std::size_t tosses = 0;
  for (const double sample : samples) {
    if (sample == 0) continue;
    ++tosses;
    if (sample > 0) ++positive;
  }
  if (tosses == 0) return 1;
  double p = 0;
  for (std::size_t hits = positive; hits <= tosses; ++hits) p += coin(tosses, hits);
  return std::min(p, 1.0);
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double so_far = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    so_far = std::max(so_far, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

}  // namespace sibyl::bench
