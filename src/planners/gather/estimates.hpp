// Run-time estimates of linear, linear synchronised and binomial gather: LIN, LS, SLS, BSLS, BNOM,
// SBN, BSBN.
//
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, equations 3 to 8 and 17 to 24.
//
// `delay` is how much later than all others one rank arrives: the one from which the root receives
// first, or the root. Run time is from the first arrival to the last exit, elapsed time the mean
// over the ranks of the time from arrival to exit.
//
// Equation 5 holds where a port serves one direction at a time. Full duplex, as in the model of the
// paper's other equations, the go-ahead message to a leaf travels beside the last segment of the
// leaf before; `Ports` says which is meant, and equations 6 and 17 to 20 follow it.
#pragma once

#include <cstdint>

#include "planners/estimates.hpp"

namespace sibyl::gather {

enum class Ports : std::uint8_t { half_duplex, full_duplex };

double linear_run_time(const Estimate& of);                            // equation 3
double linear_elapsed(const Estimate& of);                             // equation 4
double linear_synchronised_run_time(const Estimate& of, Ports ports);  // equation 5
double linear_synchronised_elapsed(const Estimate& of, Ports ports);   // equation 6
double binomial_run_time(const Estimate& of);                          // equation 7
double binomial_elapsed(const Estimate& of);                           // equation 8

// Equation 17.
double linear_synchronised_late_leaf(const Estimate& of, double delay, Ports ports);
// Equation 18: with an order, background or not.
double sorted_linear_synchronised_late_leaf(const Estimate& of, double delay, Ports ports);
// Equation 19: with an order or without.
double linear_synchronised_late_root(const Estimate& of, double delay, Ports ports);
// Equation 20.
double background_linear_synchronised_late_root(const Estimate& of, double delay, Ports ports);

double binomial_late_leaf(const Estimate& of, double delay);  // equation 21: order or not
// Equation 22 as printed. The message of the rank that arrives last has P / 2 blocks, the printed
// term half a block less: background_binomial_late_leaf is what the algorithm takes.
double background_binomial_late_leaf_printed(const Estimate& of, double delay);
double background_binomial_late_leaf(const Estimate& of, double delay);
double binomial_late_root(const Estimate& of, double delay);  // equation 23: order or not
double background_binomial_late_root(const Estimate& of, double delay);  // equation 24

}  // namespace sibyl::gather
