// The choice of algorithms; see choose.hpp.
//
// Scans go by the Hockney model with a term for the operator: rounds * (alpha + beta m) plus the
// applications on the path of the last rank * gamma m. The constants stand for a cluster's
// interconnect; they decide only between near neighbours of one family, so a factor of two in them
// changes little.
#include "selection/choose.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "planners/exscan/doubling_family.hpp"

namespace sibyl {
namespace {

constexpr double alpha = 1.5e-6;            // seconds per message
constexpr double beta = 1.0e-10;            // seconds per byte sent
constexpr double gamma_predefined = 1e-10;  // seconds per byte combined
constexpr double gamma_user = 2e-9;

// Messages are counted in an int, packed ones in bytes.
constexpr std::uint64_t message_limit = std::numeric_limits<std::int32_t>::max();
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

const Algorithm* choose_exscan(const Situation& now) {
  const double bytes = static_cast<double>(now.bytes);
  const double gamma = now.operator_use == OperatorUse::user ? gamma_user : gamma_predefined;
  const Algorithm* best = nullptr;
  double best_cost = 0;
  for (const auto& [member, name] : family) {
    const std::uint32_t operator_rounds = exscan::operator_rounds_of(member, now.ranks);
    // What the busiest rank applies beyond the last one is done while messages are under way, about
    // half of it (simulated: docs/performance.md).
    const double last = exscan::applications_at_last_rank(now.ranks, operator_rounds);
    const double most = exscan::most_applications(now.ranks, operator_rounds);
    const double applications = (last + most) / 2;
    const double cost = exscan::rounds(now.ranks, operator_rounds) * (alpha + beta * bytes) +
                        applications * gamma * bytes;
    if (best == nullptr || cost < best_cost) {
      best = find_algorithm(Collective::exscan, name);
      best_cost = cost;
    }
  }
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
  const std::int32_t wanted = settings.algorithm[static_cast<std::size_t>(now.collective)];
  if (wanted == serve_natively) return nullptr;
  if (wanted >= 0) {
    const Algorithm& row = algorithms(now.collective)[static_cast<std::size_t>(wanted)];
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
  }
  return nullptr;
}

}  // namespace sibyl
