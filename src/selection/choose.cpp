// The choice of algorithms; see choose.hpp.
#include "selection/choose.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"
#include "selection/alltoall_on_nodes.hpp"
#include "selection/choose_exchange.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/choose_scan.hpp"
#include "selection/choose_within.hpp"
#include "selection/lanes.hpp"
#include "selection/model.hpp"
#include "selection/reproducible.hpp"

namespace sibyl {
namespace {

// From this block size on the root's link is busy with whole blocks and a tree only moves data
// twice.
constexpr std::uint64_t linear_block = 4096;
// One message a node, where it pays: blocks that are more than a start-up, while MPI sends those of
// a node at once (simulated: docs/results/gather-scatter.md).
constexpr std::uint64_t two_level_block = 1024;

const Algorithm* choose_blocks(const Situation& now) {
  const Rank nodes = now.node_count();
  const auto per_node = static_cast<std::uint64_t>((now.ranks + nodes - 1) / nodes);
  if (now.shares_nodes() && now.bytes >= two_level_block && now.bytes * per_node <= sent_at_once) {
    return find_algorithm(now.collective, "two-level");
  }
  const std::uint64_t total = now.bytes * static_cast<std::uint64_t>(now.ranks);
  const bool tree = now.bytes < linear_block && total <= message_limit;
  return tree ? find_algorithm(now.collective, "binomial") : find_linear(now.collective);
}

// Irregular blocks: only the root knows their sizes, so the choice goes by start-ups alone. One
// after the other a message costs the root what its end is busy with it; along a tree an iteration
// costs a latency, and a message's handling by a rank that sends it on. Measured of MPICH 4.0 in
// seconds (platforms/README.md): half a round trip, what one of a crowd costs its receiver and its
// sender.
constexpr double latency_within = 0.62e-6;
constexpr double latency_between = 2.07e-6;
constexpr double handling = 0.41e-6;
constexpr double posting = 0.15e-6;

struct StartUps {
  double within;   // a latency between ranks of a node
  double between;  // and of two nodes
  double hop;      // what a rank that sends a message on is busy with it
  double turn;     // one of many messages at the root
  Rank per_node;
  Rank nodes;
};

StartUps start_ups_of(const Situation& now) {
  const Costs& costs = now.costs;
  StartUps found{};
  found.within = costs.known() ? costs.alpha : latency_within;
  found.between = costs.known() ? costs.alpha : latency_between;
  found.hop = costs.known() ? costs.overhead : handling;
  const bool gathers = now.collective == Collective::gatherv;
  found.turn = gathers ? costs.gathered : costs.scattered;
  if (found.turn == 0) found.turn = gathers ? found.hop : found.hop * (posting / handling);
  found.nodes = now.node_count();
  // Where ranks lie anyhow, as many as nodes hold on average.
  found.per_node = now.nodes != 0 ? (now.ranks + now.nodes - 1) / now.nodes
                                  : std::min(now.ranks_per_node, now.ranks);
  return found;
}

double iterations(Rank of) { return ceil_log2(static_cast<std::uint64_t>(of)); }
double tree_over_nodes(const StartUps& all) {
  return iterations(all.nodes) * (all.between + all.hop);
}
double star_over_nodes(const StartUps& all) { return all.between + (all.nodes - 1) * all.turn; }
bool goes_by_star(Collective collective, const StartUps& all) {
  return collective == Collective::scatterv && all.nodes > 1 && all.per_node > 1 &&
         star_over_nodes(all) < tree_over_nodes(all);
}

// One message to the root has nothing to gain: on one host Sibyl's took 1.1 to 1.5 of the library's
// time from 64 KiB in all on (docs/how-to/irregular.md).
const Algorithm* choose_irregular(const Situation& now) {
  if (now.collective == Collective::gatherv && now.ranks == 2) return nullptr;
  const bool saves = now.ranks > 1 && tree_saves(now, now.ranks - 1, 0);
  return saves ? find_algorithm(now.collective, "ordered-tree") : find_linear(now.collective);
}

// Collectives without a root, and bcast: all that a rank holds is counted in an int, since it may
// be packed.
bool is_countable(const Situation& now) {
  const bool of_one_block =
      now.collective == Collective::allgather || now.collective == Collective::alltoall;
  const std::uint64_t blocks = of_one_block ? static_cast<std::uint64_t>(now.ranks) : 1;
  return now.bytes * blocks <= message_limit;
}

// Scans, gathers and scatters of one node where nothing is to be gained by another algorithm. Of
// two ranks each is one message, whatever the algorithm. Where ranks share processors most of a
// short call is waiting for one, the more so the more rounds it has, and no governor looks at calls
// so short: of the library's time they took 1.0 to 1.6, up to 4.3 with one rank late; irregular
// ones of any size 0.7 to 1.5, whose sizes not all ranks know (docs/results/never-slower.md). What
// goes by a window that was asked for has other costs.
bool gains_nothing(const Situation& now) {
  if (now.node_count() != 1 || now.ranks < 2) return false;
  const bool window_asked_for = now.by_window && now.library == NativeLibrary::other;
  if (window_asked_for) return false;
  if (now.ranks == 2) return true;
  const bool irregular =
      now.collective == Collective::gatherv || now.collective == Collective::scatterv;
  const auto blocks = static_cast<std::uint64_t>(blocks_of_a_call(now.collective, now.ranks));
  return now.crowded && (irregular || now.bytes * blocks < governed_from);
}

const Algorithm* choose_by_model(const Settings& settings, const Situation& now) {
  const bool leaves = now.blocking && settings.serves_on_node == 0;
  if (leaves && now.collective < Collective::reduce && gains_nothing(now)) return nullptr;
  switch (now.collective) {
    case Collective::exscan:
      return choose_exscan(now);
    case Collective::scan:
      return choose_scan(now);
    case Collective::gather:
    case Collective::scatter:
      return choose_blocks(now);
    case Collective::gatherv:
    case Collective::scatterv:
      return choose_irregular(now);
    case Collective::reduce:
      return choose_reduce(settings, now);
    default:
      return choose_exchange(settings, now);
  }
}

}  // namespace

const Algorithm* choose(const Settings& settings, const Situation& now) {
  const bool blocks = now.collective == Collective::gather || now.collective == Collective::scatter;
  if (blocks && now.bytes > message_limit) return nullptr;
  if (now.collective > Collective::reduce && !is_countable(now)) return nullptr;
  if (is_reproducible(settings, now.collective)) return choose_reproducible(settings, now);
  const std::int32_t wanted = wanted_algorithm(settings, now);
  if (wanted == serve_natively) return nullptr;
  if (wanted >= 0) {
    const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
    if (row.commutative_only && !now.commutes) return nullptr;
    if (row.check != nullptr && !row.check({.ranks = now.ranks}).empty()) return nullptr;
    // Only linear sends nothing but the user's own blocks; others count packed bytes of many.
    const bool too_large =
        blocks && !row.linear && now.bytes * static_cast<std::uint64_t>(now.ranks) > message_limit;
    const bool countable = !row.any_placement || is_countable_on_nodes(now);
    return too_large || !countable ? nullptr : &row;
  }
  const Algorithm* const chosen = choose_by_model(settings, now);
  return chosen == nullptr && now.by_window ? choose_within(now) : chosen;
}

bool is_left_native_on_one_node(const Settings& settings, Collective collective, bool by_window) {
  const bool chosen_freely =
      settings.algorithm[static_cast<std::size_t>(collective)] == choose_automatically &&
      settings.table.count == 0 && !is_reproducible(settings, collective);
  return chosen_freely && collective > Collective::reduce &&
         !(by_window && may_go_within(collective));
}

bool tree_saves(const Situation& now, Rank blocks, Rank direct) {
  const StartUps all = start_ups_of(now);
  const double linear = (all.nodes > 1 ? all.between : all.within) + blocks * all.turn;
  const double over_nodes =
      goes_by_star(now.collective, all) ? star_over_nodes(all) : tree_over_nodes(all);
  const double tree =
      iterations(all.per_node) * (all.within + all.hop) + over_nodes + direct * all.turn;
  return tree < linear;
}

bool star_saves(const Situation& now) { return goes_by_star(now.collective, start_ups_of(now)); }

Rank blocks_of_a_call(Collective collective, Rank ranks) {
  switch (collective) {
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
    case Collective::alltoall:
      return ranks;
    default:
      return 1;
  }
}

std::int32_t wanted_algorithm(const Settings& settings, const Situation& now) {
  const std::int32_t wanted = settings.algorithm[static_cast<std::size_t>(now.collective)];
  return wanted == choose_automatically ? settings.table.find(now.collective, now.ranks, now.bytes)
                                        : wanted;
}

bool wants_costs(const Settings& settings, const Situation& now) {
  if (settings.reproducible != 0) return false;
  switch (now.collective) {
    case Collective::reduce:
      return reduce_wants_costs(settings, now);
    case Collective::gatherv:
    case Collective::scatterv: {
      if (now.costs.known() || now.node_count() == 1) return false;
      if (wanted_algorithm(settings, now) != choose_automatically) return false;
      const Algorithm* const chosen = choose_irregular(now);
      return chosen != nullptr && !chosen->linear;
    }
    case Collective::exscan:
    case Collective::scan:
      return scan_wants_costs(settings, now);
    case Collective::gather:
    case Collective::scatter:
      return false;
    default:
      return exchange_wants_costs(settings, now);
  }
}

SegmentPlan segments_for(const Settings& settings, const Algorithm& algorithm,
                         const Situation& now) {
  if (!algorithm.segments) return {};
  if (is_reproducible(settings, now.collective)) {
    return reproducible_segments(settings, algorithm, now);
  }
  if (algorithm.lanes) return lane_segments(settings, algorithm, now);
  if (now.collective > Collective::reduce) return exchange_segments(settings, algorithm, now);
  if (algorithm.arrivals) {
    return plan_segments(settings, algorithm.any_placement ? now.of_nodes() : now);
  }
  return settings.segments != 0 ? SegmentPlan{settings.segments} : scan_segments(algorithm, now);
}

}  // namespace sibyl
