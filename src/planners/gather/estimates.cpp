// The equations; see estimates.hpp.
#include "planners/gather/estimates.hpp"

#include <algorithm>
#include <cmath>

namespace sibyl::gather {

double linear_run_time(const Estimate& of) {
  return (of.ranks - 1) * (of.alpha + of.block() * of.beta);
}

double linear_elapsed(const Estimate& of) {
  return (of.ranks + 2) * linear_run_time(of) / (2 * of.ranks);
}

double linear_synchronised_run_time(const Estimate& of, Ports ports) {
  const double data = of.block() * of.beta;
  return ports == Ports::half_duplex ? (of.ranks - 1) * (3 * of.alpha + data)
                                     : (of.ranks - 1) * (2 * of.alpha + data) + of.alpha;
}

// Leaf i is through after i turns, full duplex one alpha later; the root with the last leaf.
double linear_synchronised_elapsed(const Estimate& of, Ports ports) {
  const double data = of.block() * of.beta;
  if (ports == Ports::half_duplex) {
    return (of.ranks + 2) * (of.ranks - 1) * (3 * of.alpha + data) / (2 * of.ranks);
  }
  return (of.ranks + 2) * (of.ranks - 1) * (2 * of.alpha + data) / (2 * of.ranks) + of.alpha;
}

double binomial_run_time(const Estimate& of) {
  return std::log2(of.ranks) * of.alpha + (of.ranks - 1) * of.block() * of.beta;
}

double binomial_elapsed(const Estimate& of) {
  return (2 * (of.ranks - 1) * of.alpha + std::log2(of.ranks) * of.beta * of.data) / of.ranks;
}

double linear_synchronised_late_leaf(const Estimate& of, double delay, Ports ports) {
  return delay + linear_synchronised_run_time(of, ports);
}

double sorted_linear_synchronised_late_leaf(const Estimate& of, double delay, Ports ports) {
  return std::max(delay + 3 * of.alpha + of.block() * of.beta,
                  linear_synchronised_run_time(of, ports));
}

double linear_synchronised_late_root(const Estimate& of, double delay, Ports ports) {
  return delay + linear_synchronised_run_time(of, ports);
}

double background_linear_synchronised_late_root(const Estimate& of, double delay, Ports ports) {
  return std::max(delay, linear_synchronised_run_time(of, ports));
}

double binomial_late_leaf(const Estimate& of, double delay) {
  return delay + binomial_run_time(of);
}

double background_binomial_late_leaf_printed(const Estimate& of, double delay) {
  return std::max(delay + of.alpha + (of.ranks - 1) * of.block() / 2 * of.beta,
                  binomial_run_time(of));
}

double background_binomial_late_leaf(const Estimate& of, double delay) {
  return std::max(delay + of.alpha + of.data / 2 * of.beta, binomial_run_time(of));
}

double binomial_late_root(const Estimate& of, double delay) {
  return delay + binomial_run_time(of);
}

double background_binomial_late_root(const Estimate& of, double delay) {
  return std::max(delay, binomial_run_time(of));
}

}  // namespace sibyl::gather
