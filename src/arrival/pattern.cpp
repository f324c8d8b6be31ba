// The shapes of arrival patterns that the papers measure with.
//
// Sources: flat, uniform and one late process are the cases of J. Proficz, K. M. Ocetkiewicz,
// Improving Clairvoyant, 2020, sections 5.7 and 6; the late root is that of J. Proficz, Process
// arrival pattern aware algorithms for acceleration of scatter and gather operations, 2020, section
// 3; equal steps are the instance of lemma 1 of the former.
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "arrival/splitmix64.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl {
namespace {

constexpr std::array shapes{
    PatternShape::flat,  PatternShape::uniform, PatternShape::skewed,      PatternShape::root_late,
    PatternShape::fixed, PatternShape::normal,  PatternShape::exponential,
};

// The mean of 12 uniform numbers: its sum has variance 1 (Irwin-Hall). 48 bits of each, so that the
// sum is exact.
double next_normal(SplitMix64& random) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.next() >> 16;
  return static_cast<double>(sum) * 0x1p-48 / 12;
}

// J. von Neumann's method (1951): exponential with mean 1 by comparisons alone, so that no
// logarithm of some library decides its last bit.
double next_exponential(SplitMix64& random) {
  for (double whole = 0;; whole += 1) {
    const double first = random.next_unit();
    double last = first;
    bool odd = true;  // the length of the run of falling numbers
    for (;;) {
      const double next = random.next_unit();
      if (next >= last) break;
      last = next;
      odd = !odd;
    }
    if (odd) return whole + first;
  }
}

std::string problem_of(const PatternRequest& request) {
  if (request.ranks < 1) {
    return "a pattern of " + std::to_string(request.ranks) + " ranks; ask for at least 1";
  }
  if (request.root < 0 || request.root >= request.ranks) {
    return "the root is " + std::to_string(request.root) + "; choose one of the ranks 0 to " +
           std::to_string(request.ranks - 1);
  }
  if (request.shape != PatternShape::flat &&
      !(std::isfinite(request.maximum) && request.maximum >= 0)) {
    return "the latest arrival must be a finite number of seconds, 0 or more";
  }
  return {};
}

}  // namespace

std::span<const PatternShape> pattern_shapes() { return shapes; }

std::string_view name_of(PatternShape shape) {
  switch (shape) {
    case PatternShape::flat:
      return "flat";
    case PatternShape::uniform:
      return "uniform";
    case PatternShape::skewed:
      return "skewed";
    case PatternShape::root_late:
      return "root-late";
    case PatternShape::fixed:
      return "fixed";
    case PatternShape::normal:
      return "normal";
    case PatternShape::exponential:
      return "exponential";
  }
  return "";
}

bool shape_from_name(std::string_view name, PatternShape& shape) {
  for (const PatternShape candidate : shapes) {
    if (name_of(candidate) != name) continue;
    shape = candidate;
    return true;
  }
  return false;
}

PatternResult make_pattern(const PatternRequest& request) {
  PatternResult result;
  result.problem = problem_of(request);
  if (!result.ok()) return result;

  std::vector<double>& times = result.pattern.times;
  times.assign(static_cast<std::size_t>(request.ranks), 0.0);
  const double maximum = request.maximum;
  SplitMix64 random(request.seed);
  switch (request.shape) {
    case PatternShape::flat:
      break;
    case PatternShape::uniform:
      for (double& time : times) time = maximum * random.next_unit();
      break;
    case PatternShape::skewed:
      times.back() = maximum;
      break;
    case PatternShape::root_late:
      times[static_cast<std::size_t>(request.root)] = maximum;
      break;
    case PatternShape::fixed:
      for (std::size_t i = 1; i < times.size(); ++i) {
        times[i] = maximum * (static_cast<double>(i) / static_cast<double>(times.size() - 1));
      }
      break;
    case PatternShape::normal:
      for (double& time : times) time = maximum * next_normal(random);
      break;
    case PatternShape::exponential:
      for (double& time : times) {
        double fourths = next_exponential(random);
        while (fourths > 4) fourths = next_exponential(random);
        time = maximum * (fourths / 4);
      }
      break;
  }
  return result;
}

std::string check_times(std::span<const double> times, Rank ranks) {
  if (ranks < 1) return "there are " + std::to_string(ranks) + " ranks; ask for at least 1";
  if (std::cmp_not_equal(times.size(), ranks)) {
    return "there are " + std::to_string(times.size()) + " arrival times for " +
           std::to_string(ranks) + " ranks; give one for each rank";
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string who = "the arrival time of rank " + std::to_string(i) + " is ";
    if (std::isnan(times[i])) return who + "not a number; give seconds, 0 or more";
    if (std::isinf(times[i])) return who + "infinite; give finite seconds";
    if (times[i] < 0) return who + "negative; count from the first arrival";
  }
  return {};
}

}  // namespace sibyl
