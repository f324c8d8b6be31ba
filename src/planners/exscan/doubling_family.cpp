// Exclusive scan by doubling: one planner for 1-doubling, 123-doubling, two-op-doubling, hybrid.
//
// Idea: every rank keeps the sum W of the c ranks directly below it. In the first q' rounds it
// sends W (+) V over a distance of c + 1, which makes c' = 2c + 1; in the later rounds it sends W
// over a distance of c, which makes c' = 2c and saves an application of the operator.
//
// p no power of two: nothing special; ranks without a partner at the round's distance sit out.
// Commutativity: not needed; what arrives comes from lower ranks and stands on the left.
// Cost: rounds * (alpha + beta m), and rounds - 1 applications of the operator on the path of the
//   last rank. q' = 1 takes 1 + ceil(log2(p - 1)) rounds, q' = 2 takes ceil(log2(4 (p - 1) / 3)),
//   q' = ceil(log2 p) takes ceil(log2 p); hybrid is the smallest q' that takes ceil(log2 p).
// Source: J. L. Traeff, Communication Round and Computation Efficient Exclusive Prefix-Sums
//   Algorithms (for MPI_Exscan), 2025, algorithm 1 and theorem 1 (q' = 1, 2, ceil(log2 p)); its
//   follow-up, arXiv 2604.25667, 2026 (hybrid).
//
// Rank 0's prefix is empty: it sends V while W (+) V is what is sent, is silent afterwards, and its
// receive buffer stays untouched. With MPI_IN_PLACE V lies where W arrives, so a rank that sends V
// saves it first; sending it from there would hold the receive of W back until the send is done.
#include "planners/exscan/doubling_family.hpp"

#include <algorithm>
#include <cstddef>

#include "planners/ceil_log2.hpp"
#include "planners/headers.hpp"

namespace sibyl::exscan {
namespace {

constexpr std::string_view names[] = {"1-doubling", "123-doubling", "two-op-doubling", "hybrid"};

// The q' that makes a difference: no round beyond ceil(log2 p) is ever needed.
std::uint32_t effective(std::uint32_t operator_rounds, Rank ranks) {
  return std::min(operator_rounds, std::max(1U, ceil_log2(static_cast<std::uint64_t>(ranks))));
}

std::uint32_t requested(Member member, const PlanRequest& request) {
  return effective(request.operator_rounds != 0 ? request.operator_rounds
                                                : operator_rounds_of(member, request.ranks),
                   request.ranks);
}

// How many ranks below it a rank has summed up after the first q' rounds.
std::uint64_t operator_coverage(std::uint32_t operator_rounds) {
  return (std::uint64_t{1} << operator_rounds) - 1;
}

}  // namespace

std::uint32_t operator_rounds_of(Member member, Rank ranks) {
  const std::uint32_t all = std::max(1U, ceil_log2(static_cast<std::uint64_t>(ranks)));
  switch (member) {
    case Member::one_doubling:
      return 1;
    case Member::one_two_three_doubling:
      return 2;
    case Member::two_op_doubling:
      return all;
    case Member::hybrid:
      break;
  }
  const auto needed = static_cast<std::uint64_t>(ranks) - 1;
  std::uint32_t fewest = 1;
  while (fewest < all && operator_coverage(fewest) << (all - fewest) < needed) ++fewest;
  return fewest;
}

std::uint64_t skip(std::uint32_t round, std::uint32_t operator_rounds) {
  if (round < operator_rounds) return std::uint64_t{1} << round;
  return operator_coverage(operator_rounds) << (round - operator_rounds);
}

std::uint32_t rounds(Rank ranks, std::uint32_t operator_rounds) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const std::uint32_t q = effective(operator_rounds, ranks);
  if (q >= ceil_log2(all)) return ceil_log2(all);
  const std::uint64_t coverage = operator_coverage(q);
  return q + ceil_log2((all - 1 + coverage - 1) / coverage);
}

std::uint32_t applications_at_last_rank(Rank ranks, std::uint32_t operator_rounds) {
  const std::uint32_t all = rounds(ranks, operator_rounds);
  return all == 0 ? 0 : all - 1;
}

std::uint32_t most_applications(Rank ranks, std::uint32_t operator_rounds) {
  if (ranks <= 1) return 0;
  return applications_at_last_rank(ranks, operator_rounds) + effective(operator_rounds, ranks) - 1;
}

// Only with q' = 1 do two rounds, the first two, use the same distance.
std::uint32_t tag_span(Rank ranks, std::uint32_t operator_rounds) {
  const std::uint32_t q = effective(operator_rounds, ranks);
  return q == 1 && rounds(ranks, q) > 1 ? 2 : 1;
}

bool append_doubling(ProgramBuilder& build, const DoublingGroup& group) {
  const std::int64_t size = group.size;
  const std::int64_t index = group.index;
  const std::uint32_t all_rounds = rounds(group.size, group.operator_rounds);
  const std::uint32_t operator_rounds = effective(group.operator_rounds, group.size);
  const auto rank_of = [&](std::int64_t member) {
    return group.members.empty() ? static_cast<Rank>(group.first + member)
                                 : group.members[static_cast<std::size_t>(member)];
  };
  bool uses_joined = false;

  for (std::uint32_t step = 0; step < all_rounds; ++step) {
    const std::uint32_t round = group.first_round + step;
    const auto distance = static_cast<std::int64_t>(skip(step, operator_rounds));
    const bool sends_value = step < operator_rounds;
    if (index + distance < size) {
      const Rank peer = rank_of(index + distance);
      if (sends_value && (step == 0 || index == 0)) {
        build.send(peer, group.value, round);
      } else if (sends_value) {
        build.copy(group.joined, group.value, round);
        build.combine(group.joined, group.prefix, round);
        build.send(peer, group.joined, round);
        uses_joined = true;
      } else if (index > 0) {
        build.send(peer, group.prefix, round);
      }
    }
    // Without V there is nothing to come from the first member.
    if (index - distance >= (sends_value ? 0 : 1)) {
      const Rank peer = rank_of(index - distance);
      if (step == 0) {
        build.receive(peer, group.prefix, round);
      } else {
        build.receive_combine(peer, group.prefix, round);
      }
    }
  }
  return uses_joined;
}

template <Member member>
PlanHeader describe(const PlanRequest& request) {
  const std::uint32_t operator_rounds = requested(member, request);
  PlanHeader header = scan_header(Collective::exscan, names[static_cast<std::size_t>(member)],
                                  request, rounds(request.ranks, operator_rounds));
  header.tag_span = tag_span(request.ranks, operator_rounds);
  return header;
}

namespace {

void plan_rank(const PlanRequest& request, std::uint32_t operator_rounds, Rank rank,
               Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  DoublingGroup group;
  group.size = request.ranks;
  group.index = rank;
  group.operator_rounds = operator_rounds;
  group.value = ProgramBuilder::slice(request.in_place ? Buffer::receive : Buffer::send, 0);
  group.prefix = ProgramBuilder::slice(Buffer::receive, 0);
  if (request.in_place && rank > 0 && rank + 1 < request.ranks) {
    const Slice saved = ProgramBuilder::slice(Buffer::scratch, program.scratch_units++);
    build.copy(saved, group.value, 0);
    group.value = saved;
  }
  group.joined = ProgramBuilder::slice(Buffer::scratch, program.scratch_units);
  if (append_doubling(build, group)) ++program.scratch_units;
}

}  // namespace

template <Member member>
void plan(const PlanRequest& request, Rank rank, Program& program) {
  plan_rank(request, requested(member, request), rank, program);
}

template PlanHeader describe<Member::one_doubling>(const PlanRequest&);
template PlanHeader describe<Member::one_two_three_doubling>(const PlanRequest&);
template PlanHeader describe<Member::two_op_doubling>(const PlanRequest&);
template PlanHeader describe<Member::hybrid>(const PlanRequest&);
template void plan<Member::one_doubling>(const PlanRequest&, Rank, Program&);
template void plan<Member::one_two_three_doubling>(const PlanRequest&, Rank, Program&);
template void plan<Member::two_op_doubling>(const PlanRequest&, Rank, Program&);
template void plan<Member::hybrid>(const PlanRequest&, Rank, Program&);

}  // namespace sibyl::exscan
