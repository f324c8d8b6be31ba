// The model of Clairvoyant; see choose_reduce.hpp.
//
// A vector of m bytes in N segments goes through in N + L rounds of one segment, each of which
// takes a link d = overhead + (beta + gamma) m/N, and K beta where K ranks of a node share its
// link, since the schedule knows nothing of nodes. The schedule itself has about log2 p rounds more
// than N; ranks that drift apart and meet at a receiver add some: 11 in all were lost on 8 hosts
// with 32 segments (measured in November 2026), so L = 3 log2 p.
//
// Order. Where links carry one message after the other, ranks that send in the order of the
// schedule do not drift apart. Then the pattern brings the last rank nothing: it needs the time of
// a vector in any case, which is nearly all that the schedule takes for ranks that come together. 1
// MiB on 8 hosts then takes 1.1 times the wire's time whatever the arrivals, 1.3 to 1.5 out of
// order (measured in November 2026). Where messages share a link (as large ones do, and all in
// SMPI), those under way in order would all come late.
//
// Arrivals. Where one rank comes long after all others, these are done but for it, and what is left
// is a vector over its link. Where many are late, one after the other or two at once, a schedule by
// their times is longer than one for ranks that come together, and is no gain for the last: over
// the grid of tests/selection/knowing_test.cpp it takes 1.00 to 1.19 times what the same takes told
// nothing where ranks come uniformly, but for 0.94 on 48 ranks by links in turn, and 0.75 to 0.99
// where one is late by four vectors' times, or, where messages share links, by one. On 16 hosts
// that come uniformly over 2.5 to 25 vectors' times it takes 1.08 to 1.10 times as long, and the
// mean rank is in the call for 1.01 to 1.03 times as long (Open MPI 4.1; under MPICH 4.0 both take
// 0.99 to 1.00; measured in November 2026: `sibyl reproduce reduce-figure-10-cluster`). So `auto`
// goes by arrivals where one is late by the whole, or half of it where messages share links, and by
// as much as all others are apart. Whoever asks for Clairvoyant by name gets it as published, but
// where links carry messages in turn and ranks are nearer than the whole takes: for the sake of
// those who may leave before the last has come.
#include "selection/choose_reduce.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "planners/ceil_log2.hpp"
#include "selection/model.hpp"
#include "selection/round_time.hpp"

namespace sibyl {
namespace {

// Into how many segments a vector may be cut.
constexpr std::array<std::uint32_t, 18> segments_tried{1,  2,  3,  4,  6,   8,   12,  16,  24,
                                                       32, 48, 64, 96, 128, 192, 256, 384, 512};
// The most of those that are as good as the best are taken. Where these would be sent by rendezvous
// and a few more would not, these few more (model.hpp): there 1 MiB on 8 hosts takes 1.55 times the
// wire's time under MPICH, and 1.07 in 128 segments (measured in November 2026).
constexpr double nearly_as_good = 1.05;
// An order is kept where a latency is no longer than so many rounds; ranks wait for it.
constexpr double most_latency = 2;
constexpr double clear_win = 0.8;
// Fewer leave whole vectors to be sent one after the other: a tree does the same.
constexpr std::uint32_t fewest_segments = 4;

bool between_nodes(const Situation& now) { return now.node_count() > 1; }

// Beyond those of the segments.
double rounds_in_order(Rank ranks) { return 1.5 * ceil_log2(static_cast<std::uint64_t>(ranks)); }

bool asks_for_clairvoyant(std::int32_t wanted) {
  return wanted >= 0 && algorithms(Collective::reduce)[static_cast<std::size_t>(wanted)].arrivals;
}

}  // namespace

bool reduce_wants_costs(const Settings& settings, const Situation& now) {
  if (now.ranks < 2 || !now.commutes) return false;
  const std::int32_t wanted = wanted_algorithm(settings, now);
  if (wanted == choose_automatically) {
    return now.lead > 0 ||
           (between_nodes(now) && static_cast<double>(now.bytes) >= worth_measuring(now));
  }
  return asks_for_clairvoyant(wanted) && (settings.segments == 0 || now.spread > 0);
}

SegmentPlan plan_segments(const Settings& settings, const Situation& now) {
  const Costs& costs = now.costs;
  const double gamma = gamma_of(now.operator_use, costs);
  const double beta = costs.beta * (between_nodes(now) ? now.ranks_per_node : 1);
  const auto planned = [&](std::uint32_t segments) {
    const double bytes = static_cast<double>(now.bytes) / segments;
    const double round = costs.overhead + (beta + gamma) * bytes;
    const bool in_order =
        costs.fifo_links && between_nodes(now) && costs.alpha <= most_latency * round;
    const double beyond = in_order ? rounds_in_order(now.ranks) : rounds_beyond(now.ranks);
    return SegmentPlan{segments, round, costs.alpha + (segments + beyond) * round, in_order};
  };
  SegmentPlan best = planned(std::max(settings.segments, 1U));
  if (settings.segments == 0) {
    for (const std::uint32_t segments : segments_tried) {
      if (const SegmentPlan plan = planned(segments); plan.whole_time < best.whole_time)
        best = plan;
    }
    const SegmentPlan fastest = best;
    std::optional<SegmentPlan> at_once;
    for (const std::uint32_t segments : segments_tried) {
      const SegmentPlan plan = planned(segments);
      if (plan.in_order != fastest.in_order) continue;
      if (plan.whole_time <= nearly_as_good * fastest.whole_time) best = plan;
      const bool is_short = now.bytes <= sent_at_once * segments;
      if (!at_once && is_short && plan.whole_time <= as_good * fastest.whole_time) at_once = plan;
    }
    const bool waits = between_nodes(now) && now.bytes > sent_at_once * best.segments;
    if (waits && at_once) best = *at_once;
  }
  best.round_time = std::max(best.round_time, shortest_round);
  best.for_one = wanted_algorithm(settings, now) == choose_automatically;
  return at_arrivals(best, now.ranks, now.spread, now.lead);
}

SegmentPlan at_arrivals(SegmentPlan plan, Rank ranks, double spread, double lead) {
  plan.together = plans_together(plan, spread, lead);
  if (!plan.together) {
    const double rounds = rounds_of_arrivals(plan.segments, ranks, plan.in_order);
    plan.round_time = round_time_for(plan.round_time, rounds, spread);
  }
  return plan;
}

// Where one is so late that what the others do meanwhile is a whole reduce, Clairvoyant has no
// rival. Else, and where nothing is known of them, it must win on the wire, which no MPI library's
// own reduce uses so well between nodes: they move the vector about twice.
const Algorithm* choose_reduce(const Settings& settings, const Situation& all) {
  if (!all.costs.known() || !all.commutes || all.ranks < 2) return nullptr;
  const bool on_two_levels = all.shares_nodes();
  const Situation now = on_two_levels ? all.of_nodes() : all;
  const SegmentPlan plan = plan_segments(settings, now);
  if (plan.segments < fewest_segments) return nullptr;
  const double deep = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  const double twice =
      2 * (deep * now.costs.alpha + now.costs.beta * static_cast<double>(now.bytes));
  const bool one_is_late = !plan.together && now.lead > plan.whole_time;
  const bool pays = one_is_late || (between_nodes(now) && plan.whole_time < clear_win * twice);
  if (!pays) return nullptr;
  return find_algorithm(Collective::reduce, on_two_levels ? "two-level" : "clairvoyant");
}

}  // namespace sibyl
