// The doubling family of exclusive scans: its members, its skips and its closed forms.
//
// The one parameter of the family is q', here `operator_rounds`: the number of first rounds in
// which a rank sends W (+) V, its prefix with its own value, instead of its prefix W alone. (In
// round 0 W is still empty: it sends V.) All functions are exact integer arithmetic and take any
// ranks >= 1 and operator_rounds >= 1; where the rank count is known, values of q' beyond
// ceil(log2 p) mean ceil(log2 p).
#pragma once

#include <cstdint>
#include <span>

#include "sibyl/planners.hpp"

namespace sibyl::exscan {

enum class Member : std::uint8_t { one_doubling, one_two_three_doubling, two_op_doubling, hybrid };

// The q' of a member for `ranks` ranks.
std::uint32_t operator_rounds_of(Member member, Rank ranks);

// The distance s_k over which round k sends: 2^k in the first q' rounds, then
// (2^q' - 1) * 2^(k - q'). Requires round <= 31 and operator_rounds <= 31.
std::uint64_t skip(std::uint32_t round, std::uint32_t operator_rounds);

// Rounds until the last rank has all its operands.
std::uint32_t rounds(Rank ranks, std::uint32_t operator_rounds);

// How often the last rank applies the operator.
std::uint32_t applications_at_last_rank(Rank ranks, std::uint32_t operator_rounds);

// No rank applies the operator more often than this.
std::uint32_t most_applications(Rank ranks, std::uint32_t operator_rounds);

// An exclusive scan of the family among some of the ranks, as part of a program.
struct DoublingGroup {
  Rank size = 1;                       // of the group
  Rank index = 0;                      // of this rank in the group
  Rank first = 0;                      // the group's member i is rank first + i
  std::span<const Rank> members = {};  // or, where these are given, members[i]
  std::uint32_t operator_rounds = 1;
  std::uint32_t first_round = 0;
  Slice value;   // V: read only
  Slice prefix;  // W: written, except at index 0, which reads and writes it never
  Slice joined;  // scratch for W (+) V
};

// Appends the steps of one rank; true when they use `joined`.
bool append_doubling(ProgramBuilder& build, const DoublingGroup& group);

// Most messages from one rank to another.
std::uint32_t tag_span(Rank ranks, std::uint32_t operator_rounds);

// The planner of the table's rows.
template <Member member>
PlanHeader describe(const PlanRequest& request);
template <Member member>
void plan(const PlanRequest& request, Rank rank, Program& program);

}  // namespace sibyl::exscan
