// Reduce-scatter by groups of ranks, then a gather of the parts: what Rabenseifner's algorithm and
// Radix-K have in common.
//
// The members of a plan are numbered in rank order, member i having the digits of i to the bases
// of `groups`, lowest first. In phase k the members that differ in digit k alone are a group: each
// of its g members keeps one of g equal shares of the parts that they hold, sends the others
// theirs, and adds up what it is sent. After the last phase every member has the whole sum of one
// part. The gather takes the phases backwards: in each, those with the root's digit get the shares
// of their group.
//
// Groups are joined lowest digit first, so the operands of a group are sums of neighbouring runs of
// ranks, and each member puts them together in rank order: those from below come nearest first and
// go on the left, those from above come farthest first and are added up in another place before the
// member's own sum is put on their left.
#pragma once

#include <span>

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

// Members of the groups of each phase, and how the ranks of the plan number those that take part.
struct Groups {
  std::span<const std::uint32_t> sizes;
  Rank folded =
      0;  // the first 2 * folded ranks take part in pairs of which one gives its vector up
};

// As many parts as members take part, two tags where they are more than one.
PlanHeader describe_groups(std::string_view algorithm, const PlanRequest& request,
                           const Groups& groups);
void plan_groups(const PlanRequest& request, const Groups& groups, Rank rank, Program& program);

}  // namespace sibyl::reduce
