// Inclusive scan by doubling.
//
// Idea: after k rounds every rank holds the sum of the 2^k ranks that end with itself. In round k
// it sends that sum to the rank 2^k above and puts what comes from the rank 2^k below on its left.
//
// p no power of two: nothing special; ranks without a partner at the round's distance sit out.
// Commutativity: not needed; what arrives comes from lower ranks and stands on the left.
// Cost: ceil(log2 p) * (alpha + beta m), and at most as many applications of the operator.
// Source: W. D. Hillis, G. L. Steele, Data Parallel Algorithms, CACM 29(12), 1986, "Computing all
//   partial sums".
//
// Round 0 sends V straight from the send buffer, so that the first combination need not wait for
// that send. Later sends leave from the receive buffer, which is combined into next.
#include "planners/scan/doubling.hpp"

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::scan {

PlanHeader describe_doubling(const PlanRequest& request) {
  return scan_header(Collective::scan, "doubling", request,
                     ceil_log2(static_cast<std::uint64_t>(request.ranks)));
}

void plan_doubling(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Slice value = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);
  const Slice sum = ProgramBuilder::slice(Buffer::receive, 0);
  const std::int64_t ranks = request.ranks;
  if (rank + 1 < ranks) build.send(rank + 1, value, 0);
  if (!request.in_place) build.copy(sum, value, 0);
  if (rank > 0) build.receive_combine(rank - 1, sum, 0);
  std::uint32_t round = 1;
  for (std::int64_t distance = 2; distance < ranks; distance *= 2, ++round) {
    if (rank + distance < ranks) build.send(static_cast<Rank>(rank + distance), sum, round);
    if (rank >= distance) build.receive_combine(static_cast<Rank>(rank - distance), sum, round);
  }
}

}  // namespace sibyl::scan
