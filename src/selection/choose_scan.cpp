// The choice among exclusive scans, by the model of model.hpp.
#include "selection/choose_scan.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"
#include "planners/exscan/recursive_doubling.hpp"
#include "planners/exscan/two_level.hpp"
#include "selection/model.hpp"

namespace sibyl {
namespace {

// Ties go to the first: the fewest rounds with the fewest applications.
constexpr std::array<std::pair<exscan::Member, std::string_view>, 4> family{{
    {exscan::Member::hybrid, "hybrid"},
    {exscan::Member::one_two_three_doubling, "123-doubling"},
    {exscan::Member::one_doubling, "1-doubling"},
    {exscan::Member::two_op_doubling, "two-op-doubling"},
}};

// The cost of the applications on the longest path and beside it. What a rank applies beyond the
// longest path is done while messages are under way, about half of it (simulated:
// docs/performance.md).
double applications(double on_path, double most, double seconds_each) {
  return (on_path + most) / 2 * seconds_each;
}

// How many ranks of the busiest node exchange with another node when all ranks flip `bit`. The
// blocks of 2 bit ranks that a node's ends cut are what leaves: of `cut` ranks on one side as many
// as do not find their partner there.
std::uint64_t leaving_in_exchange(std::uint64_t per_node, std::uint64_t bit) {
  const std::uint64_t block = 2 * bit;
  if (bit >= per_node) return per_node;
  const auto without_partner = [&](std::uint64_t place) {
    const std::uint64_t cut = place % block;
    return std::min(cut, block - cut);
  };
  std::uint64_t most = 0;
  for (std::uint64_t node = 0; node * per_node % block != 0 || node == 0; ++node) {
    most =
        std::max(most, without_partner(node * per_node) + without_partner((node + 1) * per_node));
  }
  return std::min(most, per_node);
}

}  // namespace

const Algorithm* choose_exscan(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const double gamma = gamma_of(now.operator_use);
  const auto per_node = static_cast<std::uint64_t>(std::min(now.ranks_per_node, now.ranks));
  const bool one_node = per_node == static_cast<std::uint64_t>(now.ranks);
  const Algorithm* best = nullptr;
  double best_cost = 0;
  const auto offer = [&](std::string_view name, double cost) {
    if (best != nullptr && cost >= best_cost) return;
    best = find_algorithm(Collective::exscan, name);
    best_cost = cost;
  };

  for (const auto& [member, name] : family) {
    const std::uint32_t operator_rounds = exscan::operator_rounds_of(member, now.ranks);
    double messages = 0;
    for (std::uint32_t round = 0; round < exscan::rounds(now.ranks, operator_rounds); ++round) {
      const std::uint64_t distance = exscan::skip(round, operator_rounds);
      messages += one_node ? round_cost(bytes, 0) : shift_cost(bytes, distance, per_node);
    }
    const double applied =
        applications(exscan::applications_at_last_rank(now.ranks, operator_rounds),
                     exscan::most_applications(now.ranks, operator_rounds), gamma * bytes);
    offer(name, messages + applied);
  }
  // What follows is for nodes of several ranks.
  if (per_node == 1 || one_node) return best;
  const std::uint32_t all_rounds = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  double exchanges = applications(
      all_rounds - 1, exscan::recursive_doubling_applications(now.ranks), gamma * bytes);
  for (std::uint32_t round = 0; round < all_rounds; ++round) {
    exchanges += round_cost(bytes, leaving_in_exchange(per_node, std::uint64_t{1} << round));
  }
  offer("recursive-doubling", exchanges);
  const auto phases = exscan::two_level_rounds(now.ranks, now.ranks_per_node);
  const std::uint32_t within = phases.within + phases.broadcast;
  offer("two-level", within * round_cost(bytes, 0) + phases.between * round_cost(bytes, 1) +
                         (phases.within + phases.between) * gamma * bytes);
  return best;
}

}  // namespace sibyl
