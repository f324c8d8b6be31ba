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

#include "planners/groups.hpp"

namespace sibyl::reduce {

PlanHeader describe_radix_k(const PlanRequest& request) {
  const Factors factors(request.ranks);
  return describe_groups(Collective::reduce, "radix-k", request, factors.groups());
}

void plan_radix_k(const PlanRequest& request, Rank rank, Program& program) {
  const Factors factors(request.ranks);
  plan_groups(Collective::reduce, request, factors.groups(), rank, program);
}

}  // namespace sibyl::reduce
