// Factors by dynamic programming over the divisors; then a doubling of runs of vectors a group.
//
// Scratch has room for two groups of copies of the vector, which take turns: a rank's own sum is
// the first of its group's, those of the members above it follow, around the group. So what is sent
// in a round, the first of them, lies side by side, and so does what comes.
#include "planners/doubling_sums.hpp"

#include <algorithm>

#include "planners/ceil_log2.hpp"

namespace sibyl {
namespace {

std::vector<Rank> divisors_of(Rank number) {
  std::vector<Rank> divisors;
  for (Rank d = 1; std::int64_t{d} * d <= number; ++d) {
    if (number % d != 0) continue;
    divisors.push_back(d);
    if (d != number / d) divisors.push_back(number / d);
  }
  std::ranges::sort(divisors);
  return divisors;
}

std::uint32_t rounds_of(Rank factor) { return ceil_log2(static_cast<std::uint64_t>(factor)); }

}  // namespace

std::vector<Rank> doubling_factors(Rank ranks) {
  struct Best {
    std::uint32_t rounds = 0;
    std::int64_t vectors = 0;
    Rank last = 1;
  };
  const std::vector<Rank> divisors = divisors_of(ranks);
  std::vector<Best> best(divisors.size());
  const auto index = [&](Rank divisor) {
    return static_cast<std::size_t>(std::ranges::lower_bound(divisors, divisor) - divisors.begin());
  };
  for (std::size_t i = 1; i < divisors.size(); ++i) {
    best[i].last = 0;
    for (std::size_t f = 1; f <= i; ++f) {
      if (divisors[i] % divisors[f] != 0) continue;
      const Best& rest = best[index(divisors[i] / divisors[f])];
      const Best found{rest.rounds + rounds_of(divisors[f]), rest.vectors + divisors[f] - 1,
                       divisors[f]};
      const bool better = best[i].last == 0 || found.rounds < best[i].rounds ||
                          (found.rounds == best[i].rounds && found.vectors < best[i].vectors);
      if (better) best[i] = found;
    }
  }
  std::vector<Rank> factors;
  for (Rank left = ranks; left > 1; left /= factors.back()) {
    factors.push_back(best[index(left)].last);
  }
  std::ranges::sort(factors);
  return factors;
}

std::uint32_t doubling_rounds(Rank ranks) {
  std::uint32_t rounds = 0;
  for (const Rank factor : doubling_factors(ranks)) rounds += rounds_of(factor);
  return rounds;
}

Slice append_doubling_sums(Rank ranks, Rank rank, Unit units, Buffer own, bool to_receive,
                           Program& program) {
  ProgramBuilder build(program);
  const std::vector<Rank> factors = doubling_factors(ranks);
  if (factors.empty()) return ProgramBuilder::slice(own, 0, units);
  const auto room = static_cast<Unit>(factors.back());  // the largest
  program.scratch_units = 2 * room * units;
  Unit area = 0;  // the copy at which this group's begin
  const auto copies = [&](Unit first, Unit count) {
    return ProgramBuilder::slice(Buffer::scratch, (area + first) * units, count * units);
  };
  build.copy(copies(0, 1), ProgramBuilder::slice(own, 0, units), 0);
  std::uint32_t round = 0;
  Rank stride = 1;
  for (std::size_t level = 0; level < factors.size(); ++level) {
    const Rank members = factors[level];
    const Rank digit = rank / stride % members;
    const auto peer = [&](Rank other) { return rank + (other - digit) * stride; };
    for (Rank have = 1; have < members; have *= 2, ++round) {
      const Rank more = std::min(have, members - have);
      build.send(peer((digit + members - have) % members), copies(0, static_cast<Unit>(more)),
                 round);
      build.receive(peer((digit + have) % members),
                    copies(static_cast<Unit>(have), static_cast<Unit>(more)), round);
    }
    // From the last member down, each put on the left of what follows it.
    const auto of_member = [&](Rank member) {
      return copies(static_cast<Unit>((member + members - digit) % members), 1);
    };
    const bool last = level + 1 == factors.size();
    const Unit next_area = room - area;
    const Slice sum = last && to_receive
                          ? ProgramBuilder::slice(Buffer::receive, 0, units)
                          : ProgramBuilder::slice(Buffer::scratch, next_area * units, units);
    build.copy(sum, of_member(members - 1), round - 1);
    for (Rank member = members - 1; member-- > 0;) {
      build.combine(sum, of_member(member), round - 1);
    }
    if (last) return sum;
    area = next_area;
    stride *= members;
  }
  return Slice{};
}

}  // namespace sibyl
