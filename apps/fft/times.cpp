// The times of every iteration; see times.hpp.
#include "fft/times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sibyl::fft {
namespace {

std::string milliseconds(const std::vector<double>& values) {
  if (values.empty()) return fmt::format("{:>27}", "-");
  const Quartiles q = quartiles(values);
  return fmt::format("{:>9.3f} {:>17}", 1e3 * q.middle,
                     fmt::format("[{:.3f}, {:.3f}]", 1e3 * q.low, 1e3 * q.high));
}

std::string factor(const std::vector<double>& first, const std::vector<double>& values) {
  std::vector<double> quotients;
  for (std::size_t i = 0; i < std::min(first.size(), values.size()); ++i) {
    if (values[i] > 0) quotients.push_back(first[i] / values[i]);
  }
  return quotients.empty() ? fmt::format("{:>8}", "-")
                           : fmt::format("{:>8.3f}", quartiles(quotients).middle);
}

}  // namespace

Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::string table(const std::vector<Times>& all) {
  std::string text =
      fmt::format("{:<8}{:>27}{:>27}{:>27}{:>8}{:>8}\n", "gather", "whole, ms [quartiles]",
                  "gather's run time", "gather's elapsed", "x whole", "x run");
  for (const Times& times : all) {
    text += fmt::format("{:<8}", times.gather) + milliseconds(times.whole) +
            milliseconds(times.run) + milliseconds(times.elapsed) +
            factor(all.front().whole, times.whole) + factor(all.front().run, times.run) + "\n";
  }
  return text;
}

}  // namespace sibyl::fft
