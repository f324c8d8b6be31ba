// Radix-K reduce: reduce-scatter in groups of k ranks, k changing from phase to phase, then a
// gather of the parts to the root.
//
// Idea: the members of a group send each other their shares directly, k-1 messages each, so several
// are under way at a time; few phases with large groups or many with small ones, as p has factors.
//
// p no power of two: no matter; a prime p is one group of all ranks.
// Commutativity: not needed; groups are of neighbouring runs of ranks.
// In place: at the root.
// Cost: for p = k1 k2 ...: 2 (sum of k_i - 1) alpha + 2 (p-1)/p beta m.
// Source: T. Peterka, D. Goodell, R. Ross, H.-W. Shen, R. Thakur, A Configurable Algorithm for
//   Parallel Image-Compositing Applications, 2009; RXK in section 6 of J. Proficz,
//   K. M. Ocetkiewicz, Improving Clairvoyant, 2020, which divides p by the first of a list of sizes
//   that fits. The list is not given there; here it is 8 down to 2, and what has no such factor is
//   divided by its smallest one.
#include "planners/reduce/radix_k.hpp"

#include <array>

#include "planners/reduce/groups.hpp"

namespace sibyl::reduce {
namespace {

constexpr std::uint32_t largest_group = 8;

// The sizes of the groups, largest first: at most 31 factors of a Rank.
class Factors {
 public:
  explicit Factors(Rank ranks) {
    auto left = static_cast<std::uint32_t>(ranks);
    for (std::uint32_t size = largest_group; size > 1; --size) take(size, left);
    for (std::uint64_t size = largest_group + 1; size * size <= left; ++size) {
      take(static_cast<std::uint32_t>(size), left);
    }
    if (left > 1) take(left, left);
  }
  Groups groups() const& { return {std::span(sizes_).first(count_), 0}; }
  Groups groups() const&& = delete;  // would outlive the list

 private:
  void take(std::uint32_t size, std::uint32_t& left) {
    for (; left % size == 0; left /= size) sizes_[count_++] = size;
  }
  std::array<std::uint32_t, 31> sizes_{};
  std::size_t count_ = 0;
};

}  // namespace

PlanHeader describe_radix_k(const PlanRequest& request) {
  const Factors factors(request.ranks);
  return describe_groups("radix-k", request, factors.groups());
}

void plan_radix_k(const PlanRequest& request, Rank rank, Program& program) {
  const Factors factors(request.ranks);
  plan_groups(request, factors.groups(), rank, program);
}

}  // namespace sibyl::reduce
