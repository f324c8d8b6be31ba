// The choice of algorithms; see choose.hpp.
//
// Scans go by the Hockney model with a term for the operator, on two levels where ranks share
// nodes: a round in which c vectors leave every node costs alpha + m max(beta, c beta_node), one
// that stays within nodes its own alpha and beta; an application on the longest path costs gamma m.
// The constants stand for a cluster's interconnect (platforms/README.md); they decide only between
// near neighbours, so a factor of two in them changes little.
#include "selection/choose.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "planners/ceil_log2.hpp"
#include "planners/exscan/doubling_family.hpp"
#include "planners/exscan/recursive_doubling.hpp"
#include "planners/exscan/two_level.hpp"

namespace sibyl {
namespace {

// A message: `alpha` seconds, and `beta` more per byte.
struct Link {
  double alpha;
  double beta;
};
// How messages travel, by their size: within the header, copied by both ends, by rendezvous.
struct Regime {
  double up_to;  // bytes
  Link within;   // ranks of one node
  Link between;  // ranks of two nodes
};
constexpr std::array<Regime, 3> regimes{{
    {64, {1.15e-6, 4.0e-10}, {1.7e-6, 2.7e-10}},
    {65536, {2.45e-6, 4.0e-10}, {3.0e-6, 2.7e-10}},
    {std::numeric_limits<double>::infinity(), {4.0e-6, 1.7e-10}, {15e-6, 1.6e-10}},
}};
constexpr double beta_node = 4.0e-11;  // of all messages that leave a node together
// Shifts leave some ranks within their node and take others out of it: rounds drift apart, so that
// start-ups overlap, and messages share a node's connection longer.
constexpr double shifts_overlap = 0.95;
constexpr double shifts_crowding = 1.4;
constexpr double gamma_predefined = 1e-10;  // seconds per byte combined
constexpr double gamma_user = 2e-9;

// Messages are counted in an int, packed ones in bytes.
constexpr std::uint64_t message_limit = std::numeric_limits<std::int32_t>::max();
// Irregular blocks: only the root knows their sizes, so the choice goes by the ranks alone. Among
// fewer the tree saves too few start-ups to pay for what its messages say about themselves.
constexpr Rank tree_ranks = 8;
// Parts of a vector that a reduce is cut into, at most.
constexpr std::uint32_t most_segments = 256;
// From this block size on the root's link is busy with whole blocks and a tree only moves data
// twice.
constexpr std::uint64_t linear_block = 4096;

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

const Regime& regime_of(double bytes) {
  return *std::ranges::find_if(regimes, [&](const Regime& r) { return bytes < r.up_to; });
}

// A round of messages of `bytes`, of which `leaving` leave every node.
double round_cost(double bytes, std::uint64_t leaving) {
  const Regime& regime = regime_of(bytes);
  if (leaving == 0) return regime.within.alpha + regime.within.beta * bytes;
  return regime.between.alpha +
         bytes * std::max(regime.between.beta, static_cast<double>(leaving) * beta_node);
}

// A round of messages to ranks at a distance, where nodes hold `per_node` ranks. Paths lead through
// ranks that wait for another node and ranks that do not, so the mean of the latencies counts.
double shift_cost(double bytes, std::uint64_t distance, std::uint64_t per_node) {
  const std::uint64_t leaving = std::min(distance, per_node);
  const Regime& regime = regime_of(bytes);
  const double staying = 1 - static_cast<double>(leaving) / static_cast<double>(per_node);
  const double saved = staying * (regime.between.alpha - regime.within.alpha);
  const double transfer = round_cost(bytes, leaving) - regime.between.alpha;
  if (per_node == 1) return regime.between.alpha + transfer;
  return shifts_overlap * (regime.between.alpha - saved) + shifts_crowding * transfer;
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

const Algorithm* choose_exscan(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const double gamma = now.operator_use == OperatorUse::user ? gamma_user : gamma_predefined;
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

const Algorithm* choose_blocks(const Situation& now) {
  const std::uint64_t total = now.bytes * static_cast<std::uint64_t>(now.ranks);
  const bool tree = now.bytes < linear_block && total <= message_limit;
  return find_algorithm(now.collective, tree ? "binomial" : "linear");
}

}  // namespace

const Algorithm* choose(const Settings& settings, const Situation& now) {
  const bool blocks = now.collective == Collective::gather || now.collective == Collective::scatter;
  if (blocks && now.bytes > message_limit) return nullptr;
  std::int32_t wanted = settings.algorithm[static_cast<std::size_t>(now.collective)];
  if (wanted == choose_automatically) {
    wanted = settings.table.find(now.collective, now.ranks, now.bytes);
  }
  if (wanted == serve_natively) return nullptr;
  if (wanted >= 0) {
    const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
    if (row.commutative_only && !now.commutes) return nullptr;
    if (row.check != nullptr && !row.check({.ranks = now.ranks}).empty()) return nullptr;
    // Only linear sends nothing but the user's own blocks; others count packed bytes of many.
    const bool too_large = blocks && row.name != "linear" &&
                           now.bytes * static_cast<std::uint64_t>(now.ranks) > message_limit;
    return too_large ? nullptr : &row;
  }
  switch (now.collective) {
    case Collective::exscan:
      return choose_exscan(now);
    case Collective::scan:
      return find_algorithm(Collective::scan, "doubling");
    case Collective::gather:
    case Collective::scatter:
      return choose_blocks(now);
    case Collective::gatherv:
    case Collective::scatterv:
      return find_algorithm(now.collective, now.ranks < tree_ranks ? "linear" : "ordered-tree");
    case Collective::reduce:
      break;  // the library's own until segments come from measured costs (docs/performance.md)
  }
  return nullptr;
}

// N segments are there after about N + log2 p rounds of one segment each: more of them shorten what
// follows the last arrival, but every round costs a start-up.
std::uint32_t segments_for(const Settings& settings, const Algorithm& algorithm,
                           const Situation& now) {
  if (!algorithm.arrivals) return 1;
  if (settings.segments != 0) return settings.segments;
  const double gamma = now.operator_use == OperatorUse::user ? gamma_user : gamma_predefined;
  const bool one_node = now.ranks_per_node >= now.ranks;
  const std::uint32_t deep = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  std::uint32_t best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::uint32_t segments = 1; segments <= most_segments; segments *= 2) {
    const double bytes = static_cast<double>(now.bytes) / segments;
    const double cost = (segments + deep) * (round_cost(bytes, one_node ? 0 : 1) + gamma * bytes);
    if (cost < best_cost) {
      best = segments;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace sibyl
