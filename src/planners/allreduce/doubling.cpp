// Allreduce of small vectors in ceil(log2 p) rounds, whatever p is.
//
// Idea: groups of neighbours tell each other their vectors and add them up in rank order, then
// groups of such groups; for p a power of two this is recursive doubling.
//
// p no power of two: groups are as large as p has factors; a prime p is one group. No extra round
//   before or after.
// Commutativity: not needed.
// In place: at any rank.
// Cost: p = f1 f2 ...: ceil(log2 p) alpha where the factors allow (always for one group) and
//   (sum of f_i - 1) beta m.
// Source: recursive multiplying, M. Ruefenacht, M. Bull, S. Booth, Generalisation of Recursive
//   Doubling for AllReduce, 2017, with groups that tell each other by doubling (J. Bruck et al.,
//   1997).
#include "planners/allreduce/allreduce.hpp"
#include "planners/doubling_sums.hpp"
#include "planners/headers.hpp"

namespace sibyl::allreduce {

PlanHeader describe_doubling(const PlanRequest& request) {
  PlanHeader header =
      plain_header(Collective::allreduce, "doubling", request, doubling_rounds(request.ranks));
  header.keeps_order = true;
  return header;
}

void plan_doubling(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  const Buffer own = request.in_place ? Buffer::receive : Buffer::send;
  const Slice sum = append_doubling_sums(request.ranks, rank, 1, own, true, program);
  if (sum.buffer != Buffer::receive) {
    ProgramBuilder(program).copy(ProgramBuilder::slice(Buffer::receive, 0), sum, 0);
  }
}

}  // namespace sibyl::allreduce
