// Rabenseifner's reduce: reduce-scatter by recursive halving, binomial gather to the root.
//
// Idea: pairs of ranks exchange halves of what they hold, so that each adds up one half, then
// pairs of pairs exchange quarters, and so on; at the end every rank has the whole sum of one part,
// and the parts are gathered over the same tree.
//
// p no power of two: of the first 2 (p - 2^k) ranks, 2^k the largest power of two, one of each pair
//   gives its whole vector to the other and is done.
// Commutativity: not needed; pairs are neighbours first, so sums are of neighbouring ranks.
// In place: at the root.
// Cost: 2 log2 p alpha + 2 (p-1)/p beta m; for p no power of two alpha + beta m more.
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; RAB in section 6
//   of J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant, 2020.
#include "planners/reduce/rabenseifner.hpp"

#include "planners/groups.hpp"

namespace sibyl::reduce {

PlanHeader describe_rabenseifner(const PlanRequest& request) {
  return describe_groups(Collective::reduce, "rabenseifner", request, pairs_of(request.ranks));
}

void plan_rabenseifner(const PlanRequest& request, Rank rank, Program& program) {
  plan_groups(Collective::reduce, request, pairs_of(request.ranks), rank, program);
}

}  // namespace sibyl::reduce
