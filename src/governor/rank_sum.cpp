// The rank-sum test; see rank_sum.hpp.
#include "governor/rank_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sibyl {

double share_above(std::span<const double> costs, std::span<const double> others) {
  double larger = 0;
  for (const double cost : costs) {
    for (const double other : others) {
      if (cost > other) larger += 1;
      if (cost == other) larger += 0.5;
    }
  }
  const auto pairs = static_cast<double>(costs.size() * others.size());
  return pairs == 0 ? 0.5 : larger / pairs;
}

RankSum rank_sum_test(std::span<const double> costs, std::span<const double> others) {
  constexpr double decided_at = 2.3;
  const auto n = static_cast<double>(costs.size());
  const auto m = static_cast<double>(others.size());
  const double spread = std::sqrt(n * m * (n + m + 1) / 12);
  const double beyond_half = n * m * (share_above(costs, others) - 0.5);
  if (spread == 0 || std::abs(beyond_half) < decided_at * spread) return RankSum::undecided;
  return beyond_half > 0 ? RankSum::above : RankSum::below;
}

double median_of(std::span<const double> costs) {
  std::vector<double> sorted(costs.begin(), costs.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace sibyl
