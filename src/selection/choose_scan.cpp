// The choice among scans, exclusive and inclusive, by the model of model.hpp.
#include "selection/choose_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
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

constexpr std::uint32_t most_segments = 256;
// Where pipelines are not thought of: with fewer ranks nothing is left to overlap, and a short
// vector is not worth cutting.
constexpr Rank least_pipelined_ranks = 4;
constexpr std::uint64_t least_pipelined_bytes = 16384;
constexpr double promised_gain = 1.1;
// In the chain a hop waits for the message before to have left, too (simulated).
constexpr double chain_fill = 1.25;

// The cost of the applications on the longest path and beside it. What a rank applies beyond the
// longest path is done while messages are under way, about half of it (simulated:
// docs/results/scans.md).
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

// What fills the pipeline is a path through the tree, then every segment keeps the ends of its
// messages busy: one in and one out in the chain, two each in the two trees.
SegmentPlan pipelined(const Algorithm& row, const Situation& now) {
  const bool chain = row.chain;
  const double gamma = gamma_of(now.operator_use);
  const Rank per_node = now.consecutive();
  const Rank nodes = now.nodes_of_consecutive();
  const auto depth = [](Rank n) { return 2.0 * ceil_log2(static_cast<std::uint64_t>(n)); };
  const double hops_between = chain ? nodes - 1 : depth(nodes);
  const double hops_within = chain ? std::max(0, now.ranks - 1 - nodes) : depth(per_node);
  const double messages = chain ? 1 : 2;
  SegmentPlan best;
  best.whole_time = std::numeric_limits<double>::infinity();
  for (std::uint32_t segments = 1; segments <= most_segments; segments *= 2) {
    const double bytes = static_cast<double>(now.bytes) / segments;
    const double steady = segments * messages * (2 * end_cost(bytes) + gamma * bytes);
    const double fill = hops_between * (round_cost(bytes, 1) + gamma * bytes) +
                        hops_within * (round_cost(bytes, 0) + gamma * bytes);
    const double cost = steady + (chain ? chain_fill : 1) * fill;
    if (cost < best.whole_time) best = {segments, cost / segments, cost};
  }
  return best;
}

// Offers the pipelined scans, which have to promise a gain that is worth relying on the model.
template <class Offer>
void offer_pipelines(const Situation& now, Offer offer) {
  if (now.ranks < least_pipelined_ranks || now.bytes < least_pipelined_bytes) return;
  for (const Algorithm& row : algorithms(now.collective)) {
    if (row.segments) offer(row.name, promised_gain * pipelined(row, now).whole_time);
  }
}

// Either kind of scan.
double on_two_levels(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const auto phases = exscan::two_level_rounds(now.nodes_of_consecutive(), now.consecutive());
  return (phases.within + phases.broadcast) * round_cost(bytes, 0) +
         phases.between * round_cost(bytes, 1) +
         (phases.within + phases.between) * gamma_of(now.operator_use) * bytes;
}

}  // namespace

SegmentPlan scan_segments(const Algorithm& row, const Situation& now) {
  return pipelined(row, now);
}

Ranking rank_scans(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const auto per_node = static_cast<std::uint64_t>(now.consecutive());
  const bool one_node = per_node == static_cast<std::uint64_t>(now.ranks);
  double by_doubling = 0;
  for (std::uint64_t distance = 1; distance < static_cast<std::uint64_t>(now.ranks);
       distance *= 2) {
    by_doubling += one_node ? round_cost(bytes, 0) : shift_cost(bytes, distance, per_node);
    by_doubling += gamma_of(now.operator_use) * bytes;
  }
  Ranking all;
  const auto offer = [&](std::string_view name, double cost) {
    all.offer(find_algorithm(Collective::scan, name), cost);
  };
  offer("doubling", by_doubling);
  offer_pipelines(now, offer);
  if (per_node > 1 && !one_node) offer("two-level", on_two_levels(now));
  return all;
}

Ranking rank_exscans(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const double gamma = gamma_of(now.operator_use);
  const auto per_node = static_cast<std::uint64_t>(now.consecutive());
  const bool one_node = per_node == static_cast<std::uint64_t>(now.ranks);
  Ranking all;
  Ranking doubling;
  const auto offer = [&](std::string_view name, double cost) {
    all.offer(find_algorithm(Collective::exscan, name), cost);
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
    doubling.offer(find_algorithm(Collective::exscan, name), messages + applied);
  }
  // One stands for the family, whose members are near each other everywhere: what is next is of
  // another kind, and pays where the model is far off. On 48 hosts at 10 Mbit/s 16 KiB take 121 ms
  // by doubling, and 30 in a pipeline (Open MPI 4.1, November 2026).
  all.offer(doubling.best(), doubling.cost());
  offer_pipelines(now, offer);
  // What follows is for nodes of several ranks.
  if (per_node == 1 || one_node) return all;
  offer("two-level", on_two_levels(now));
  if (now.largest_run != 0) return all;  // halves of aligned blocks do not meet within such nodes
  const std::uint32_t all_rounds = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  double exchanges = applications(
      all_rounds - 1, exscan::recursive_doubling_applications(now.ranks), gamma * bytes);
  for (std::uint32_t round = 0; round < all_rounds; ++round) {
    exchanges += round_cost(bytes, leaving_in_exchange(per_node, std::uint64_t{1} << round));
  }
  offer("recursive-doubling", exchanges);
  return all;
}

}  // namespace sibyl
