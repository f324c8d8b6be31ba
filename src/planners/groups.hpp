// Reduce-scatter by groups of ranks, then a gather of the parts, to one rank or to all: what
// Rabenseifner's algorithm and Radix-K have in common, for reduce and allreduce.
//
// The members of a plan are numbered in rank order, member i having the digits of i to the bases
// of `groups`, lowest first. In phase k the members that differ in digit k alone are a group: each
// of its g members keeps one of g equal shares of the parts that they hold, sends the others
// theirs, and adds up what it is sent. After the last phase every member has the whole sum of one
// part. The gather takes the phases backwards: in each, those with the root's digit get the shares
// of their group; in an allreduce all members give each other theirs.
//
// Groups are joined lowest digit first, so the operands of a group are sums of neighbouring runs of
// ranks, and each member puts them together in rank order: those from below come nearest first and
// go on the left, those from above come farthest first and are added up in another place before the
// member's own sum is put on their left.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sibyl/planners.hpp"

namespace sibyl {

// Members of the groups of each phase, and how the ranks of the plan number those that take part.
struct Groups {
  std::span<const std::uint32_t> sizes;
  Rank folded =
      0;  // the first 2 * folded ranks take part in pairs of which one gives its vector up
};

// As many parts as members take part, two tags where they are more than one.
PlanHeader describe_groups(Collective collective, std::string_view algorithm,
                           const PlanRequest& request, const Groups& groups);
void plan_groups(Collective collective, const PlanRequest& request, const Groups& groups, Rank rank,
                 Program& program);

// Groups of two, of as many ranks as the largest power of two.
Groups pairs_of(Rank ranks);

// Groups as the number of ranks has factors, largest first: at most 31 factors of a Rank.
class Factors {
 public:
  explicit Factors(Rank ranks);
  Groups groups() const& { return {std::span(sizes_).first(count_), 0}; }
  Groups groups() const&& = delete;  // would outlive the list

 private:
  void take(std::uint32_t size, std::uint32_t& left);
  std::array<std::uint32_t, 31> sizes_{};
  std::size_t count_ = 0;
};

}  // namespace sibyl
