// The choice of algorithms; see choose.hpp.
#include "selection/choose.hpp"

#include <limits>

#include "selection/choose_reduce.hpp"
#include "selection/choose_scan.hpp"
#include "selection/model.hpp"

namespace sibyl {
namespace {

// Messages are counted in an int, packed ones in bytes.
constexpr std::uint64_t message_limit = std::numeric_limits<std::int32_t>::max();
// Irregular blocks: only the root knows their sizes, so the choice goes by the ranks alone. Among
// fewer the tree saves too few start-ups to pay for what its messages say about themselves.
constexpr Rank tree_ranks = 8;
// From this block size on the root's link is busy with whole blocks and a tree only moves data
// twice.
constexpr std::uint64_t linear_block = 4096;

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
      return choose_scan(now);
    case Collective::gather:
    case Collective::scatter:
      return choose_blocks(now);
    case Collective::gatherv:
    case Collective::scatterv:
      return find_algorithm(now.collective, now.ranks < tree_ranks ? "linear" : "ordered-tree");
    case Collective::reduce:
      return choose_reduce(settings, now);
  }
  return nullptr;
}

SegmentPlan segments_for(const Settings& settings, const Algorithm& algorithm,
                         const Situation& now) {
  if (!algorithm.segments) return {};
  if (algorithm.arrivals) return plan_segments(settings, now);
  return settings.segments != 0 ? SegmentPlan{settings.segments}
                                : scan_segments(algorithm.name, now);
}

}  // namespace sibyl
