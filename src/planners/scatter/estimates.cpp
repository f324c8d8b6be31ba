// The equations; see estimates.hpp.
#include "planners/scatter/estimates.hpp"

#include <algorithm>
#include <cmath>

namespace sibyl::scatter {

double linear_run_time(const Estimate& of) {
  return (of.ranks - 1) * (of.alpha + of.block() * of.beta);
}

double linear_elapsed(const Estimate& of) {
  return (of.ranks + 2) * linear_run_time(of) / (2 * of.ranks);
}

double binomial_run_time(const Estimate& of) {
  return std::log2(of.ranks) * of.alpha + (of.ranks - 1) * of.block() * of.beta;
}

double binomial_elapsed(const Estimate& of) { return binomial_run_time(of); }

double linear_late_receiver(const Estimate& of, double delay) {
  return delay + linear_run_time(of);
}

double sorted_linear_late_receiver(const Estimate& of, double delay) {
  return std::max(delay + of.alpha + of.block() * of.beta, linear_run_time(of));
}

double background_linear_late_receiver(const Estimate& of, double delay) {
  return std::max(delay, linear_run_time(of));
}

double linear_late_root(const Estimate& of, double delay) { return delay + linear_run_time(of); }

double binomial_late_receiver(const Estimate& of, double delay) {
  return delay + binomial_run_time(of);
}

double sorted_binomial_late_receiver(const Estimate& of, double delay) {
  return std::max(delay + of.alpha + of.block() * of.beta, binomial_run_time(of));
}

double background_binomial_late_receiver(const Estimate& of, double delay) {
  return std::max(delay, binomial_run_time(of));
}

double binomial_late_root(const Estimate& of, double delay) {
  return delay + binomial_run_time(of);
}

}  // namespace sibyl::scatter
