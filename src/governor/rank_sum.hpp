// Whether one sample of costs lies above another: the rank-sum test.
//
// Of all pairs of one cost of either sample, in how many is the first one larger? Where both come
// from one distribution that is half of them, with a known spread whatever the distribution is, so
// that a few calls which lost the processor count no more than any others. (F. Wilcoxon, Individual
// comparisons by ranking methods, Biometrics Bulletin 1, 1945; H. B. Mann and D. R. Whitney, On a
// test of whether one of two random variables is stochastically larger than the other, Annals of
// Mathematical Statistics 18, 1947.)
//
// It is decided at 2.3 standard deviations: with four costs of each only where all of one sample
// are larger than all of the other, which chance does in one case of 70 for either side, with more
// in one of about 90; for both together in one of 35 and of about 45.
#pragma once

#include <cstdint>
#include <span>

namespace sibyl {

enum class RankSum : std::uint8_t { undecided, above, below };

// How `costs` lie to `others`. Undecided where there are none.
RankSum rank_sum_test(std::span<const double> costs, std::span<const double> others);

// In which share of all pairs of one cost of either the first one is larger; equal ones are half.
double share_above(std::span<const double> costs, std::span<const double> others);

// Of one or more: the middle one, or the mean of the middle two.
double median_of(std::span<const double> costs);

}  // namespace sibyl
