// How two records become one; see piggyback.hpp.
#include "executor/program/piggyback.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

namespace sibyl {

static_assert(std::is_trivially_copyable_v<Piggyback> && std::is_standard_layout_v<Piggyback>);
static_assert(sizeof(Piggyback) % sizeof(std::int64_t) == 0);

void Piggyback::merge(const Piggyback& other) {
  first_arrival = std::min(first_arrival, other.first_arrival);
  last_departure = std::max(last_departure, other.last_departure);
  clock_error = std::max(clock_error, other.clock_error);
  if (place == 0) place = other.place;  // of one rank alone
  std::array<Late, 2 * most_late> both;
  std::ranges::merge(latest, other.latest, both.begin(), std::greater<>{});
  latest.fill({});
  std::size_t kept = 0;
  for (const Late& one : both) {
    if (kept == latest.size()) break;
    // One that has been told twice, or the node of a rank that came later.
    if (std::ranges::count(latest, one.name, &Late::name) == 0) latest[kept++] = one;
  }
}

}  // namespace sibyl
