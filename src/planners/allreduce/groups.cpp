// Allreduce as reduce-scatter and allgather in groups of ranks: Rabenseifner's algorithm and
// Radix-K.
//
// Idea: the members of a group send each other their shares of the vector and each adds up one;
// then the members of groups of such groups, until every rank has the whole sum of one part. The
// way back gives all parts to all.
//
// p no power of two: Rabenseifner's groups are pairs, and ranks too many give their vector to a
//   neighbour and get the result from it; those of Radix-K are as large as p has factors, a prime p
//   being one group.
// Commutativity: not needed; groups are of neighbouring runs of ranks.
// In place: at any rank.
// Cost: 2 log2 p alpha + 2 (p-1)/p beta m, where ranks are folded 2 (alpha + beta m) more; Radix-K
//   for p = k1 k2 ...: 2 (sum of k_i - 1) alpha + 2 (p-1)/p beta m.
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; T. Peterka et
//   al., A Configurable Algorithm for Parallel Image-Compositing Applications, 2009.
#include "planners/groups.hpp"

#include "planners/allreduce/allreduce.hpp"

namespace sibyl::allreduce {

PlanHeader describe_rabenseifner(const PlanRequest& request) {
  return describe_groups(Collective::allreduce, "rabenseifner", request, pairs_of(request.ranks));
}

void plan_rabenseifner(const PlanRequest& request, Rank rank, Program& program) {
  plan_groups(Collective::allreduce, request, pairs_of(request.ranks), rank, program);
}

PlanHeader describe_radix_k(const PlanRequest& request) {
  const Factors factors(request.ranks);
  return describe_groups(Collective::allreduce, "radix-k", request, factors.groups());
}

void plan_radix_k(const PlanRequest& request, Rank rank, Program& program) {
  const Factors factors(request.ranks);
  plan_groups(Collective::allreduce, request, factors.groups(), rank, program);
}

}  // namespace sibyl::allreduce
