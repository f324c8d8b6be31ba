// The choice among scans, exclusive and inclusive: by the model of model.hpp, and by what messages
// were measured to cost where that is more and each rank has a node of its own.
#include "selection/choose_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
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

constexpr std::uint32_t most_segments = 512;
// Where pipelines are not thought of: with fewer ranks nothing is left to overlap, and a short
// vector is not worth cutting.
constexpr Rank least_pipelined_ranks = 4;
constexpr std::uint64_t least_pipelined_bytes = 16384;
constexpr double promised_gain = 1.1;
// In the chain a hop waits for the message before to have left, too (simulated).
constexpr double chain_fill = 1.25;
// Segments that are sent at once are taken where they cost little more than the best: on slow links
// they do, whose time is that of the vector.
constexpr double nearly_as_good = 1.1;

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

bool knows_wire(const Situation& now) { return now.costs.known() && now.between_single_ranks(); }

double gamma_of(const Situation& now) {
  return knows_wire(now) ? gamma_of(now.operator_use, now.costs) : gamma_of(now.operator_use);
}

// A message from one node to another, which by the model costs so much.
double hop(const Situation& now, double bytes, double modelled) {
  const double measured = knows_wire(now) ? now.costs.alpha + now.costs.beta * bytes : 0;
  return std::max(measured, modelled);
}

// One more of a stream that comes in at one end of a rank and goes out at the other.
double passing(const Situation& now, double bytes) {
  const double measured = knows_wire(now) ? now.costs.overhead + now.costs.beta * bytes : 0;
  return std::max(measured, 2 * end_cost(bytes));
}

// A round of all ranks.
double shift(const Situation& now, double bytes, std::uint64_t distance) {
  const auto per_node = static_cast<std::uint64_t>(now.consecutive());
  if (per_node == static_cast<std::uint64_t>(now.ranks)) return round_cost(bytes, 0);
  return hop(now, bytes, shift_cost(bytes, distance, per_node));
}

// What fills the pipeline is a path through the tree, then every segment keeps the ends of its
// messages busy: one in and one out in the chain, two each in the two trees. Where the links are
// known and the best segments would be sent by rendezvous, some that are as good and are not are
// taken (model.hpp): exclusive scans of 1 MiB on 8 hosts take 1.9 times as long in 16 segments as
// in 64 (measured in December 2026).
SegmentPlan pipelined(const Algorithm& row, const Situation& now) {
  const bool chain = row.chain;
  const double gamma = gamma_of(now);
  const Rank per_node = now.consecutive();
  const Rank nodes = now.nodes_of_consecutive();
  const auto depth = [](Rank n) { return 2.0 * ceil_log2(static_cast<std::uint64_t>(n)); };
  const double hops_between = chain ? nodes - 1 : depth(nodes);
  const double hops_within = chain ? std::max(0, now.ranks - 1 - nodes) : depth(per_node);
  const double messages = chain ? 1 : 2;
  const auto planned = [&](std::uint32_t segments) {
    const double bytes = static_cast<double>(now.bytes) / segments;
    const double steady = segments * messages * (passing(now, bytes) + gamma * bytes);
    const double waits = chain ? chain_fill : 1;
    const double fill =
        hops_between * hop(now, bytes, waits * (round_cost(bytes, 1) + gamma * bytes)) +
        hops_within * waits * (round_cost(bytes, 0) + gamma * bytes);
    return SegmentPlan{segments, (steady + fill) / segments, steady + fill};
  };
  SegmentPlan best = planned(1);
  for (std::uint32_t segments = 2; segments <= most_segments; segments *= 2) {
    if (const SegmentPlan plan = planned(segments); plan.whole_time < best.whole_time) best = plan;
  }
  std::uint32_t enough = best.segments;
  while (enough <= most_segments && now.bytes > sent_at_once * enough) enough *= 2;
  if (!knows_wire(now) || enough > most_segments) return best;
  const SegmentPlan at_once = planned(enough);
  return at_once.whole_time <= nearly_as_good * best.whole_time ? at_once : best;
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

bool scan_wants_costs(const Settings& settings, const Situation& now) {
  if (now.costs.known() || !now.between_single_ranks()) return false;
  const std::int32_t wanted = wanted_algorithm(settings, now);
  if (wanted == choose_automatically) {
    return now.ranks >= least_pipelined_ranks &&
           static_cast<double>(now.bytes) >= worth_measuring(now);
  }
  if (wanted < 0) return false;
  const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
  return row.segments && settings.segments == 0;
}

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
    by_doubling += shift(now, bytes, distance) + gamma_of(now) * bytes;
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
  const double gamma = gamma_of(now);
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
      messages += shift(now, bytes, exscan::skip(round, operator_rounds));
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
