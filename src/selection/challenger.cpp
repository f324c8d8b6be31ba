// Ranks algorithms beside the chosen one; see challenger.hpp.
//
// Pipelines have the costs of their segments (choose_exchange.hpp, choose_reduce.hpp), scans those
// that they are chosen by. Everything else is rounds of a start-up each, and what goes over the
// busiest link:
//
//   rounds alpha + volume m (beta + gamma)
//
// on single ranks between which links lie; with nodes of several ranks only the own form for nodes
// is known to leave each node's link in peace, and has no challenger.
#include "selection/challenger.hpp"

#include <string_view>

#include "planners/ceil_log2.hpp"
#include "selection/choose_exchange.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/choose_scan.hpp"
#include "selection/choose_within.hpp"
#include "selection/model.hpp"
#include "selection/ranking.hpp"

namespace sibyl {
namespace {

// How far off a model may be: by costs that were measured here, and by those of a fast network that
// scans are chosen by, which a slow link changes altogether.
constexpr double near_by_measurement = 2;
constexpr double near_by_a_guess = 4;

// `volume` in vectors, or in blocks where the situation has the bytes of a block.
struct Rounds {
  double rounds;
  double volume;
};

// Ranks beyond a power of two hand their vectors in, and those of an allreduce get the result back.
struct Shape {
  double ranks;
  double deep;           // rounds of a tree
  double within_groups;  // messages to the others of a group, for each prime factor
  double beyond;         // 1 where there are ranks beyond a power of two
  double part;           // of a vector that is not a rank's own
};

Shape shape_of(Rank ranks) {
  const auto p = static_cast<std::uint64_t>(ranks);
  double within_groups = 0;
  std::uint64_t left = p;
  for (std::uint64_t prime = 2; left > 1; ++prime) {
    if (prime * prime > left) prime = left;
    for (; left % prime == 0; left /= prime) within_groups += static_cast<double>(prime - 1);
  }
  return {.ranks = static_cast<double>(ranks),
          .deep = static_cast<double>(ceil_log2(p)),
          .within_groups = within_groups,
          .beyond = (p & (p - 1)) == 0 ? 0.0 : 1.0,
          .part = (ranks - 1.0) / ranks};
}

// volume < 0: nothing is known of it.
constexpr Rounds unknown{0, -1};

Rounds rounds_of_sums(Collective collective, std::string_view name, const Shape& in) {
  const bool to_all = collective == Collective::allreduce;
  const double back = to_all ? 2 : 1;
  if (name == "circulant") return {2 * in.deep, 2 * in.part};
  if (name == "radix-k") return {2 * in.within_groups, 2 * in.part};
  if (name == "rabenseifner") {
    return {2 * in.deep + back * in.beyond, 2 * in.part + back * in.beyond};
  }
  if (name == "recursive-doubling") return {in.deep + 2 * in.beyond, in.deep + 2 * in.beyond};
  if (to_all) return unknown;
  if (name == "binomial") return {in.deep, in.deep};
  if (name == "ring") return {2 * (in.ranks - 1), 2 * in.part};
  return unknown;
}

Rounds rounds_of(const Algorithm& row, Rank ranks) {
  const Shape in = shape_of(ranks);
  switch (row.collective) {
    case Collective::reduce:
    case Collective::allreduce:
      return rounds_of_sums(row.collective, row.name, in);
    case Collective::bcast:
      if (row.name == "binomial") return {in.deep, in.deep};
      if (row.name == "scatter-allgather") return {in.deep + in.ranks - 1, 2 * in.part};
      return unknown;
    case Collective::allgather:
      return row.name == "circulant" ? Rounds{in.deep, in.ranks - 1} : unknown;
    case Collective::allgatherv:
      return row.name == "circulant" ? Rounds{in.deep, in.part} : unknown;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      if (row.name == "circulant") return {in.deep, in.part};
      return row.name == "pairwise" ? Rounds{in.ranks - 1, in.part} : unknown;
    case Collective::alltoall:
      if (row.name == "pairwise") return {in.ranks - 1, in.ranks - 1};
      return row.name == "bruck" ? Rounds{in.deep, in.deep * in.ranks / 2} : unknown;
    default:
      return unknown;
  }
}

// Below 0: nothing is known of it.
double cost_of(const Algorithm& row, const Settings& settings, const Situation& now) {
  if (row.segments) {
    return row.collective == Collective::reduce ? plan_segments(settings, now).whole_time
                                                : exchange_segments(settings, row, now).whole_time;
  }
  const auto [rounds, volume] = rounds_of(row, now.ranks);
  if (volume < 0) return volume;
  const double gamma = combines(now.collective) ? gamma_of(now.operator_use, now.costs) : 0;
  return rounds * now.costs.alpha +
         volume * static_cast<double>(now.bytes) * (now.costs.beta + gamma);
}

Ranking rank_between_single_ranks(const Algorithm& chosen, const Settings& settings,
                                  const Situation& now) {
  Ranking all;
  if (!now.between_single_ranks() || !now.costs.known()) return all;
  // What ranks win that need not wait for a late one is in no such cost.
  const bool follows = chosen.arrivals && now.spread > 0;
  if (follows && !segments_for(settings, chosen, now).together) return all;
  for (const Algorithm& row : algorithms(now.collective)) {
    if (&row != &chosen && (row.arrivals || row.any_placement)) continue;
    if (row.commutative_only && !now.commutes) continue;
    if (row.check != nullptr && !row.check({.ranks = now.ranks}).empty()) continue;
    if (const double cost = cost_of(row, settings, now); cost >= 0) all.offer(&row, cost);
  }
  return all;
}

// The root's link carries all blocks either way, in one message each or in as few as a tree has.
Ranking rank_blocks(const Situation& now) {
  Ranking all;
  const double bytes = static_cast<double>(now.bytes);
  const std::uint64_t leaving = now.node_count() > 1 ? 1 : 0;
  all.offer(find_linear(now.collective),
            round_cost(bytes, leaving) +
                (now.ranks - 2) * (round_cost(bytes, leaving) - round_cost(0, leaving)) +
                (now.ranks - 2) * end_cost(0));
  double tree = 0;
  for (Rank distance = 1; distance < now.ranks; distance *= 2) {
    const Rank blocks = distance < now.ranks - distance ? distance : now.ranks - distance;
    tree += round_cost(blocks * bytes, leaving);
  }
  all.offer(find_algorithm(now.collective, "binomial"), tree);
  return all;
}

// An inner rank of a tree holds up to half of all blocks, in room that its communicator keeps: no
// more than is there anyway is taken to try what nobody has asked for.
constexpr std::uint64_t most_in_a_tree = 1U << 24;

}  // namespace

const Algorithm* challenger_to(const Algorithm& chosen, const Settings& settings,
                               const Situation& now) {
  if (now.by_window && &chosen == choose_within(now)) return challenger_within(now);
  Ranking all;
  double near = near_by_measurement;
  switch (now.collective) {
    case Collective::exscan:
      all = rank_exscans(now);
      near = near_by_a_guess;
      break;
    case Collective::scan:
      all = rank_scans(now);
      near = near_by_a_guess;
      break;
    case Collective::gather:
    case Collective::scatter:
      if (now.ranks <= 2) return nullptr;  // one message by either
      if (now.bytes * static_cast<std::uint64_t>(now.ranks) > most_in_a_tree) return nullptr;
      all = rank_blocks(now);
      break;
    default:
      all = rank_between_single_ranks(chosen, settings, now);
      break;
  }
  // The choice has its own reasons, and need not be the best of these.
  if (all.best() != &chosen) return all.best();
  return all.next() != nullptr && all.cost_of_next() <= near * all.cost() ? all.next() : nullptr;
}

}  // namespace sibyl
