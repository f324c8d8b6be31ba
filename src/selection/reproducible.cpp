// Rules of ranks and bytes; see reproducible.hpp.
#include "selection/reproducible.hpp"

#include <algorithm>

#include "planners/doubling_sums.hpp"
#include "selection/choose_scan.hpp"

namespace sibyl {
namespace {

// Longer vectors are better cut: on clusters of slow and of fast links the tree takes 1.3 to 3
// times as long then. Shorter ones are not, within a node least of all
// (docs/how-to/reproducible.md).
constexpr std::uint64_t reduced_whole_up_to = 65536;
constexpr std::uint64_t whole_up_to = 32768;       // an allreduce
constexpr std::uint64_t whole_block_up_to = 1024;  // of a reduce-scatter, one rank's
// Up to here a group of a prime number of ranks may as well tell each other their vectors, as long
// as a rank is not told more than so many bytes in all: of 97 ranks each would hear of 96 vectors.
constexpr std::uint64_t doubled_up_to = 2048;
constexpr std::uint64_t told_at_most = 65536;
// Around a ring a part goes in pieces of which all MPI libraries send each at once, so that links
// are in use all the time; not shorter ones, which are too many messages, and no more of them than
// any MPI library has tags for. On 8 hosts that halves the time of long vectors.
constexpr std::uint64_t piece_bytes = 16384;
constexpr std::uint64_t shortest_part = 8192;
constexpr std::uint64_t pieces_at_most = 512;
// A group of Radix-K is as large as the largest prime of the number of ranks; beyond, its messages
// are too many and too small.
constexpr Rank largest_group = 16;
// Clairvoyant's segments, in bytes, and how many at most: what the model finds for the networks of
// docs/results/performance.md lies around it.
constexpr std::uint64_t segment_bytes = 8192;
constexpr std::uint64_t segments_at_most = 256;

bool has_prime_above(Rank ranks, Rank limit) {
  for (Rank factor = 2; factor <= limit; ++factor) {
    while (ranks % factor == 0) ranks /= factor;
  }
  return ranks > 1;
}

bool fits(const Algorithm& row, const Situation& now) {
  if (row.commutative_only && !now.commutes) return false;
  return row.check == nullptr || row.check({.ranks = now.ranks}).empty();
}

// Pieces of a part that goes around a ring of all ranks to all or to each; 0: it is none for this
// vector.
std::uint32_t pieces_of_ring(const Situation& now) {
  if (now.collective == Collective::reduce) return 0;
  const auto ranks = static_cast<std::uint64_t>(now.ranks);
  const std::uint64_t part = now.bytes / ranks;
  const std::uint64_t most = pieces_at_most / ranks;
  if (part < shortest_part || most == 0) return 0;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(part / piece_bytes, 1, most));
}

bool is_cut(const Situation& now) {
  if (now.collective == Collective::reduce) return now.bytes > reduced_whole_up_to;
  if (!scatters_sums(now.collective)) return now.bytes > whole_up_to;
  return now.bytes / static_cast<std::uint64_t>(now.ranks) > whole_block_up_to;
}

bool is_told_whole(const Situation& now) {
  std::uint64_t vectors = 0;
  for (const Rank factor : doubling_factors(now.ranks)) {
    vectors += static_cast<std::uint64_t>(factor) - 1;
  }
  return (scatters_sums(now.collective) || now.bytes <= doubled_up_to) &&
         vectors * now.bytes <= told_at_most;
}

// All but the ring, whose operator commutes, keep the order of the ranks, so that it may be any.
const Algorithm* choose_by_size(const Situation& now) {
  const Collective collective = now.collective;
  const bool scatters = scatters_sums(collective);
  if (is_cut(now)) {
    const Algorithm* const ring = find_algorithm(collective, "ring");
    if (pieces_of_ring(now) != 0 && fits(*ring, now)) return ring;
    const bool groups = !has_prime_above(now.ranks, largest_group);
    const Algorithm* row = find_algorithm(collective, scatters ? "pairwise"
                                                      : groups ? "radix-k"
                                                               : "rabenseifner");
    if (fits(*row, now)) return row;
  }
  if (collective == Collective::reduce) return find_algorithm(collective, "binomial");
  const Algorithm* const row =
      find_algorithm(collective, scatters ? "pairwise" : "recursive-doubling");
  return is_told_whole(now) || !fits(*row, now) ? find_algorithm(collective, "doubling") : row;
}

}  // namespace

Situation without_the_moment(const Situation& now) {
  Situation lasting = now;
  lasting.spread = lasting.lead = 0;
  lasting.costs = {};
  lasting.ranks_per_node = 1;
  lasting.nodes = 0;
  lasting.largest_run = 0;
  lasting.by_window = false;
  return lasting;
}

// A table's `native` says what is fast, not what was asked for, and bits come first here.
const Algorithm* choose_reproducible(const Settings& settings, const Situation& situation) {
  const Situation now = without_the_moment(situation);
  if (settings.algorithm[static_cast<std::size_t>(now.collective)] == serve_natively) {
    return nullptr;
  }
  if (const std::int32_t wanted = wanted_algorithm(settings, now); wanted >= 0) {
    const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
    if (fits(row, now)) return &row;
  }
  switch (now.collective) {
    case Collective::exscan:
      return choose_exscan(now);
    case Collective::scan:
      return choose_scan(now);
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return choose_by_size(now);
    default:
      return nullptr;  // moves blocks, and combines nothing
  }
}

SegmentPlan reproducible_segments(const Settings& settings, const Algorithm& algorithm,
                                  const Situation& situation) {
  if (!algorithm.arrivals) {
    if (settings.segments != 0) return {settings.segments};
    const bool around = algorithm.name == "ring" && situation.collective != Collective::reduce;
    if (!around) return scan_segments(algorithm, without_the_moment(situation));
    const std::uint32_t pieces = std::max(pieces_of_ring(situation), 1U);
    const bool of_parts = scatters_sums(situation.collective);
    return {pieces * (of_parts ? 1 : static_cast<std::uint32_t>(situation.ranks))};
  }
  SegmentPlan plan;
  plan.together = true;
  plan.segments = settings.segments != 0
                      ? settings.segments
                      : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                            situation.bytes / segment_bytes, 1, segments_at_most));
  return plan;
}

}  // namespace sibyl
