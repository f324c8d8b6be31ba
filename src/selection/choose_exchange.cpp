// The model of collectives that go to all ranks; see choose_exchange.hpp.
//
// Between nodes of one rank each, where what a link carries takes longer than start-ups, all links
// are to be busy all the time: rings, and for bcast the pipeline along a circulant graph, in
// segments. That is where the MPI libraries lose time, as they keep whole vectors or blocks too
// long (docs/results/all-ranks.md). A stream of N segments of a vector of m bytes takes A N + B
// rounds of overhead + beta m/N each. On nodes of several ranks that goes for what is between
// nodes, on two levels; an all-to-all of equal blocks takes them by its start-ups
// (alltoall_on_nodes.cpp). Everything else stays with the library: within a node its own use of
// shared memory, barriers, and an alltoallv on nodes of several ranks.
//
// Short vectors. By groups that tell each other their vectors an allreduce takes ceil(log2 p)
// rounds where p is no power of two, and the MPI libraries two more.
#include "selection/choose_exchange.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "planners/ceil_log2.hpp"
#include "planners/doubling_sums.hpp"
#include "selection/alltoall_on_nodes.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/model.hpp"

namespace sibyl {
namespace {

constexpr std::array<std::uint32_t, 15> tried{1,  2,  3,  4,  6,  8,   12, 16,
                                              24, 32, 48, 64, 96, 128, 192};
// The tags that any communicator has for a vector at least, and fewer messages than that.
constexpr std::uint32_t tags_of_a_vector = 1024;
constexpr std::uint32_t most_messages = 1000;
// What a link carries in a call takes at least so many latencies of a round where links are to be
// kept busy.
constexpr double long_in_latencies = 2;
// Into how many segments all blocks together of an alltoallv are cut at most, whose sizes are not
// known to all: those of at least 16 KiB (executor/program/layout.cpp), since smaller ones are one
// message.
constexpr std::uint32_t segments_of_any_blocks = 2048;
constexpr std::uint32_t most_of_any_block = 256;
// Up to so many ranks it is a message to each, as in the MPI libraries.
constexpr Rank most_ranks_of_any_blocks = 64;
// Vectors that groups tell each other whole, in bytes of all that one rank receives.
constexpr std::uint64_t told_whole = 16384;

// Bytes that every link carries each way.
double bytes_on_a_link(const Situation& now) {
  const auto bytes = static_cast<double>(now.bytes);
  const double others = now.ranks - 1;
  switch (now.collective) {
    case Collective::allgather:
    case Collective::alltoall:
      return others * bytes;
    case Collective::allreduce:
      return 2 * others / now.ranks * bytes;
    case Collective::bcast:
      return bytes;
    default:
      return others / now.ranks * bytes;
  }
}

bool is_long(const Situation& now) {
  if (!now.between_single_ranks() || !now.costs.known()) return false;
  const double rounds = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  return now.costs.beta * bytes_on_a_link(now) >= long_in_latencies * rounds * now.costs.alpha;
}

// A vector leaves each node once, in segments that other nodes take in while the next ones come
// together.
const Algorithm* choose_two_level(const Situation& now) {
  const bool pays = now.commutes && is_long(now.of_nodes());
  return pays ? find_algorithm(now.collective, "two-level") : nullptr;
}

// Operators that do not commute. Ranks too many for a power of two send whole vectors in and out:
// simulated, pairs take 3 to 4.6 times beta m then, and groups of up to 13 ranks, which divide
// their number, 1.7 to 4 on 3 to 96 hosts (always less); larger groups wait for too many in order
// (5.3 on 97).
const Algorithm* choose_ordered_allreduce(const Situation& now) {
  constexpr Rank largest_group = 13;
  Rank rest = now.ranks;
  while (rest % 2 == 0) rest /= 2;
  if (rest == 1) return find_algorithm(now.collective, "rabenseifner");
  for (Rank factor = 3; factor <= largest_group; factor += 2) {
    while (rest % factor == 0) rest /= factor;
  }
  return find_algorithm(now.collective, rest == 1 ? "radix-k" : "rabenseifner");
}

// Whether a ring that leaves late ranks out is worth its longer way: what is saved are bytes, and
// what it has more are rounds. Simulated, one late of 8 to 48: vectors of 64 KiB take 0.7 to 1.16
// times as long as told nothing, of 1 MiB and more 0.58 to 0.87 (tests/selection/knowing_test.cpp).
// Parts of a few KiB among many ranks lose as soon as more than one is late: told that 48 come
// uniformly within 125 ms, 256 KiB take 1.14 times as long as told nothing (16 cores, MPICH 4.0).
bool arrivals_pay(const Situation& now) {
  constexpr double rounds_saved = 2;
  constexpr std::uint64_t shortest_part = 8192;
  if (now.bytes < shortest_part * static_cast<std::uint64_t>(now.ranks)) return false;
  const double rounds = 2.0 * (now.ranks - 1);
  return now.spread > 0 &&
         now.costs.beta * static_cast<double>(now.bytes) >= rounds_saved * rounds * now.costs.alpha;
}

const Algorithm* choose_allreduce(const Situation& now) {
  if (now.shares_nodes()) return choose_two_level(now);
  if (is_long(now)) {
    if (!now.commutes) return choose_ordered_allreduce(now);
    return find_algorithm(now.collective, arrivals_pay(now) ? "pre-reduced-ring" : "ring");
  }
  const auto ranks = static_cast<std::uint64_t>(now.ranks);
  if (!now.between_single_ranks() || (ranks & (ranks - 1)) == 0) return nullptr;
  std::uint64_t vectors = 0;
  for (const Rank factor : doubling_factors(now.ranks)) {
    vectors += static_cast<std::uint64_t>(factor) - 1;
  }
  return vectors * now.bytes <= told_whole ? find_algorithm(now.collective, "doubling") : nullptr;
}

// A chain takes longer to fill. But its messages have one way each, while those of the circulant
// graph meet at their receivers: on 8 hosts 1 MiB takes 89 ms along the one and 110 along the
// other, 256 KiB 22 and 30 (docs/results/all-ranks.md).
const Algorithm* choose_pipeline(const Settings& settings, const Situation& now,
                                 std::string_view along, std::string_view over_graph) {
  constexpr double meeting = 1.2;
  const Algorithm* chain = find_algorithm(now.collective, along);
  const Algorithm* circulant = find_algorithm(now.collective, over_graph);
  const double by_chain = exchange_segments(settings, *chain, now).whole_time;
  const double by_circulant = exchange_segments(settings, *circulant, now).whole_time;
  return by_chain < meeting * by_circulant ? chain : circulant;
}

// Allgathers. Blocks go along a ring in as many rounds as there are ranks, each of which lasts a
// latency unless segments are under way meanwhile; by rounds in which what a rank holds doubles, as
// the MPI libraries move blocks that are not long, in the logarithm of that. On links that are in
// use all the time the libraries are further from this than rings are (docs/results/all-ranks.md),
// so a ring may take a little more by the model, in the segments that are best by it.
bool ring_pays(const Situation& now) {
  constexpr double little_more = 1.1;
  if (!is_long(now)) return false;
  const Costs& costs = now.costs;
  const double doubling = ceil_log2(static_cast<std::uint64_t>(now.ranks)) * costs.alpha +
                          costs.beta * bytes_on_a_link(now);
  const Algorithm* ring = find_algorithm(now.collective, "ring");
  return std::ranges::any_of(tried, [&](std::uint32_t segments) {
    Settings cut;
    cut.segments = segments;
    return exchange_segments(cut, *ring, now).whole_time <= little_more * doubling;
  });
}

// Then a ring is a chain for most of the time, and what the libraries do depends on more than
// sizes.
bool has_a_large_block(const Situation& now) {
  return now.largest * static_cast<std::uint64_t>(now.ranks) > 2 * now.bytes;
}

// The units that segments make up, and the rounds of A N + B: N segments of `bytes`.
struct Stream {
  double bytes;
  double a;
  double b;
  std::uint32_t parts;  // segments in steps of so many
};

// What goes between nodes. Of a reduce-scatter it is a ring for every rank of a node, which share
// its link.
Situation over_nodes(const Situation& all) {
  Situation over = all.of_nodes();
  if (scatters_sums(all.collective)) {
    const Rank rings = all.ranks / over.ranks;
    over.bytes /= static_cast<std::uint64_t>(rings);
    over.costs.beta *= rings;
  }
  return over;
}

// Blocks go around: where all are alike, `others` of them over each link, one after the other. One
// that is larger than they are on average goes from rank to rank besides, while links that have
// sent the others on wait for it.
Stream ring_of_blocks(const Situation& now) {
  const double others = now.ranks - 1;
  const double average = static_cast<double>(now.bytes) / now.ranks;
  const double largest = std::max(static_cast<double>(now.largest), average);
  const double share = average / largest;
  return {largest, std::max(others * share, 1.0), (others - 1) * (1 - share), 1};
}

Stream stream_of(const Algorithm& row, const Situation& now) {
  const auto bytes = static_cast<double>(now.bytes);
  const double others = now.ranks - 1;
  const double deep = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  switch (now.collective) {
    case Collective::bcast:
      if (row.name == "chain") return {bytes, 1, others - 1, 1};
      if (row.name == "binary-tree") return {bytes, 2, 2 * deep, 1};
      if (row.any_placement) return {bytes, 1, std::min(others - 1, deep), 1};
      return {bytes, 1, row.arrivals ? 2 * deep : deep - 1, 1};
    case Collective::allreduce:
      if (row.name == "clairvoyant") return {bytes, 2 * others / now.ranks, 2 * deep, 1};
      // Where one is late what it brings goes through those in time to all, in a pipeline.
      return {bytes / now.ranks, 2 * others, row.arrivals && now.spread > 0 ? others : 0,
              static_cast<std::uint32_t>(now.ranks)};
    case Collective::allgather:
      if (row.name == "all-broadcast") return {others * bytes, 1, deep - 1, 1};
      return {bytes, others, 0, 1};
    case Collective::alltoall:
      return {bytes, others, 0, 1};
    case Collective::allgatherv:
      if (row.name == "all-broadcast") return {bytes, 1, deep - 1, 1};
      return ring_of_blocks(now);
    default:
      return ring_of_blocks(now);
  }
}

// A vector that no link carries for long is worth a pipeline all the same where the model has that
// clearly shorter than a binomial tree, and than scattering and gathering again, which is what the
// libraries do. Each hop of its first segment takes a latency.
const Algorithm* choose_bcast(const Settings& settings, const Situation& now) {
  if (now.shares_nodes()) return choose_two_level(now);
  if (!now.between_single_ranks() || !now.costs.known()) return nullptr;
  constexpr double clear_win = 0.8;
  const Costs& costs = now.costs;
  const double wire = costs.beta * static_cast<double>(now.bytes);
  const double deep = ceil_log2(static_cast<std::uint64_t>(now.ranks));
  const double tree = deep * (costs.alpha + wire);
  const double scattered = (deep + now.ranks - 1) * costs.alpha + 2 * wire;
  const double enough = clear_win * std::min(tree, scattered);
  const bool is_long_one = is_long(now);
  // As much as any pipeline takes: short vectors need not be cut to see that none pays.
  if (!is_long_one && deep * costs.alpha + wire > enough) return nullptr;
  const Algorithm* const row = choose_pipeline(settings, now, "chain", "circulant");
  const double hops = stream_of(*row, now).b + 1;
  const double latencies = hops * std::max(costs.alpha - costs.overhead, 0.0);
  const double whole = exchange_segments(settings, *row, now).whole_time + latencies;
  return is_long_one || whole <= enough ? row : nullptr;
}

}  // namespace

const Algorithm* choose_exchange(const Settings& settings, const Situation& now) {
  const Algorithm* const ring = find_algorithm(now.collective, "ring");
  switch (now.collective) {
    case Collective::allreduce:
      return choose_allreduce(now);
    case Collective::bcast:
      return choose_bcast(settings, now);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      if (now.shares_nodes()) return choose_two_level(now);
      if (!is_long(now)) return nullptr;
      return now.commutes ? ring : find_algorithm(now.collective, "pairwise");
    case Collective::allgather:
      if (now.shares_nodes()) return choose_two_level(now);
      return ring_pays(now) ? ring : nullptr;
    case Collective::allgatherv:  // a large block goes round the ring as along a chain
      if (now.shares_nodes()) return choose_two_level(now);
      if (has_a_large_block(now) ? !is_long(now) : !ring_pays(now)) return nullptr;
      return choose_pipeline(settings, now, "ring", "all-broadcast");
    case Collective::alltoall:
      if (now.shares_nodes()) return choose_alltoall_on_nodes(now);
      return is_long(now) ? find_algorithm(now.collective, "shifted") : nullptr;
    case Collective::alltoallv:
      return now.between_single_ranks() && now.ranks <= most_ranks_of_any_blocks
                 ? find_algorithm(now.collective, "shifted")
                 : nullptr;
    default:  // barrier: the library's has as few rounds
      return nullptr;
  }
}

bool exchange_wants_costs(const Settings& settings, const Situation& now) {
  if (now.ranks < 2 || now.costs.known()) return false;
  const std::int32_t wanted = wanted_algorithm(settings, now);
  if (wanted == choose_automatically) {
    const bool on_two_levels = find_algorithm(now.collective, "two-level") != nullptr;
    const bool looks =
        now.between_single_ranks()
            ? now.collective != Collective::barrier && now.collective != Collective::alltoallv
            : now.shares_nodes() && on_two_levels && now.commutes;
    const bool exchanges = now.shares_nodes() && now.collective == Collective::alltoall;
    const double at_stake = exchanges ? saved_on_nodes(now) : bytes_on_a_link(now.of_nodes());
    return looks && at_stake >= worth_measuring(now);
  }
  if (wanted < 0) return false;
  const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
  if (row.arrivals && now.spread > 0) return true;
  const bool between = now.between_single_ranks() || (row.any_placement && now.node_count() > 1);
  return row.segments && settings.segments == 0 && between;
}

SegmentPlan exchange_segments(const Settings& settings, const Algorithm& row,
                              const Situation& all) {
  const Situation now = row.any_placement ? over_nodes(all) : all;
  if (now.collective == Collective::alltoallv) {
    const std::uint32_t each = segments_of_any_blocks / static_cast<std::uint32_t>(now.ranks);
    const std::uint32_t chosen = std::clamp<std::uint32_t>(each, 1, most_of_any_block);
    return {.segments = settings.segments != 0 ? settings.segments : chosen};
  }
  const Stream stream = stream_of(row, now);
  const double gamma = combines(now.collective) ? gamma_of(now.operator_use, now.costs) : 0;
  const bool passes_blocks_on =
      partition_of(now.collective) == Partition::blocks && row.name == "ring";
  const auto planned = [&](std::uint32_t segments) {
    const double moving = (now.costs.beta + gamma) * stream.bytes / segments;
    const double round = now.costs.overhead + moving;
    // Until the first segment of a block can be passed on, the last one of the block before may
    // have left. Where segments share a link they come together, and every block waits.
    const double alone = now.costs.alpha + moving;
    const double meanwhile = now.costs.fifo_links ? segments * round : round;
    const double idle = std::max(alone - meanwhile, 0.0);
    return SegmentPlan{.segments = segments * stream.parts,
                       .round_time = std::max(round, shortest_round),
                       .whole_time = (stream.a * segments + stream.b) * round +
                                     (passes_blocks_on ? stream.a * idle : 0)};
  };
  if (settings.segments != 0) {
    SegmentPlan asked = planned(std::max(settings.segments / stream.parts, 1U));
    asked.segments = settings.segments;
    return asked;
  }
  if (!now.costs.known()) return planned(1);
  const bool blocks_apart =
      partition_of(now.collective) == Partition::blocks && row.name != "all-broadcast";
  const double messages = blocks_apart ? now.ranks : stream.a + 1;
  // A ring that leaves ranks out may have up to a segment a rank more (pre_reduced_ring.cpp), and
  // numbers them twice.
  const bool leaves_out = row.arrivals && now.collective == Collective::allreduce;
  const auto fits = [&](std::uint32_t segments) {
    const bool numbered = !leaves_out || 2 * stream.parts * (segments + 1) <= tags_of_a_vector;
    return segments == 1 || (numbered && messages * segments <= most_messages);
  };
  SegmentPlan best = planned(1);
  for (const std::uint32_t segments : tried) {
    const SegmentPlan plan = planned(segments);
    if (fits(segments) && plan.whole_time < best.whole_time) best = plan;
  }
  // Whole blocks overlap with nothing, so where none of these is sent at once the most are taken.
  const double enough = as_good * best.whole_time;
  const bool pipeline = stream.b > 0;  // which segments have to fill
  std::optional<SegmentPlan> at_once;
  for (const std::uint32_t segments : tried) {
    const SegmentPlan plan = planned(segments);
    if (!fits(segments) || plan.whole_time > enough) continue;
    if (stream.bytes > static_cast<double>(sent_at_once * segments)) {
      if (!pipeline) best = plan;
    } else if (!at_once || plan.whole_time < at_once->whole_time) {
      at_once = plan;
    }
  }
  return at_once.value_or(best);
}

}  // namespace sibyl
