// Allreduce by recursive doubling, one vector a message.
//
// Idea: in round k the ranks that differ in bit k exchange their sums, and both add them up in the
// same order.
//
// p no power of two: of the first 2 (p - 2^k) ranks, 2^k the largest power of two, one of each pair
//   gives its vector to the other before and gets the result after.
// Commutativity: not needed; what comes from below stands on the left.
// In place: at any rank.
// Cost: log2 p (alpha + beta m); for p no power of two two rounds more than floor(log2 p).
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
//   in MPICH, 2005, section 7.
//
// The sum changes between `receive` and scratch when something comes from above, which is put where
// the sum is not and added to from the left.
#include <bit>

#include "planners/allreduce/allreduce.hpp"
#include "planners/headers.hpp"

namespace sibyl::allreduce {
namespace {

// The ranks that take part are numbered from 0 on: the even ones of the pairs, then all others.
struct Members {
  explicit Members(Rank ranks)
      : count(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks)))),
        pairs(ranks - count) {}
  Rank member_of(Rank rank) const { return rank < 2 * pairs ? rank / 2 : rank - pairs; }
  Rank rank_of(Rank member) const { return member < pairs ? 2 * member : member + pairs; }
  std::uint32_t rounds() const {
    return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint32_t>(count))) - 1;
  }
  Rank count;
  Rank pairs;
};

}  // namespace

PlanHeader describe_recursive_doubling(const PlanRequest& request) {
  const Members members(request.ranks);
  PlanHeader header = plain_header(Collective::allreduce, "recursive-doubling", request,
                                   members.rounds() + (members.pairs > 0 ? 2 : 0));
  header.keeps_order = true;
  return header;
}

void plan_recursive_doubling(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Members members(request.ranks);
  const Slice result = ProgramBuilder::slice(Buffer::receive, 0);
  const Slice spare = ProgramBuilder::slice(Buffer::scratch, 0);
  Slice sum = request.in_place ? result : ProgramBuilder::slice(Buffer::send, 0);
  const auto exchange = [&](Rank peer, std::uint32_t round, bool sends) {
    if (sends) build.send(peer, sum, round);
    if (peer < rank) {
      if (sum.buffer == Buffer::send) build.copy(result, sum, round);
      if (sum.buffer == Buffer::send) sum = result;
      build.receive_combine(peer, sum, round);
      return;
    }
    const Slice other = sum.buffer == Buffer::receive ? spare : result;
    if (other.buffer == Buffer::scratch) program.scratch_units = 1;
    build.receive(peer, other, round);
    build.combine(other, sum, round);
    sum = other;
  };
  std::uint32_t round = 0;
  const bool in_pair = rank < 2 * members.pairs;
  const std::uint32_t last = members.rounds() + 1;
  if (in_pair && rank % 2 != 0) {
    build.send(rank - 1, sum, round);
    build.receive(rank - 1, result, last);
    return;
  }
  if (in_pair) exchange(rank + 1, round, false);
  if (members.pairs > 0) ++round;
  const Rank member = members.member_of(rank);
  for (Rank bit = 1; bit < members.count; bit *= 2, ++round) {
    exchange(members.rank_of(member ^ bit), round, true);
  }
  if (sum.buffer != Buffer::receive) build.copy(result, sum, round == 0 ? 0 : round - 1);
  if (in_pair) build.send(rank + 1, result, last);
}

}  // namespace sibyl::allreduce
