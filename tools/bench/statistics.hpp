// The statistics of an interleaved comparison: order statistics of paired samples, a sign test, and
// Holm's correction for many comparisons in one run.
//
// Everything is free of assumptions about distributions: times on a busy machine have long tails,
// and medians and signs do not care.
#pragma once

#include <cstddef>
#include <vector>

namespace sibyl::bench {

struct Interval {
  double low = 0;
  double high = 0;
};

// The q-quantile of the samples, 0 <= q <= 1, interpolated between neighbours; 0 for no samples.
double quantile(std::vector<double> samples, double q);
double median(std::vector<double> samples);

// A confidence interval of the median from order statistics (the binomial distribution of the
// number of samples below it). For fewer samples than the level can hold: lowest and highest.
Interval median_interval(std::vector<double> samples, double confidence = 0.95);

// One-sided sign test: how likely is it that as many or more of `samples` are above zero when their
// median is not? Zeros are left out; no samples give 1.
double sign_test(const std::vector<double>& samples);

// Holm's step-down correction: the same order, each at least its p-value and at most 1.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace sibyl::bench
