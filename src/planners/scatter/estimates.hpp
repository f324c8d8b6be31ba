// Run-time estimates of linear and binomial scatter: LIN, SLIN, BSLIN, BNOM, SBN, BSBN.
//
// Source: J. Proficz, Process arrival pattern aware algorithms for acceleration of scatter and
//   gather operations, 2020, equations 3, 4, 7 and 9 to 16.
//
// `delay` is how much later than all others one rank arrives: the one that receives first, or the
// root. Run time is from the first arrival to the last exit, elapsed time the mean over the ranks
// of the time from arrival to exit.
#pragma once

#include "planners/estimates.hpp"

namespace sibyl::scatter {

double linear_run_time(const Estimate& of);    // equation 3
double linear_elapsed(const Estimate& of);     // equation 4
double binomial_run_time(const Estimate& of);  // equation 7
double binomial_elapsed(const Estimate& of);   // equation 7

double linear_late_receiver(const Estimate& of, double delay);             // equation 9
double sorted_linear_late_receiver(const Estimate& of, double delay);      // equation 10
double background_linear_late_receiver(const Estimate& of, double delay);  // equation 11
double linear_late_root(const Estimate& of, double delay);                 // equation 12: all three

double binomial_late_receiver(const Estimate& of, double delay);             // equation 13
double sorted_binomial_late_receiver(const Estimate& of, double delay);      // equation 14
double background_binomial_late_receiver(const Estimate& of, double delay);  // equation 15
double binomial_late_root(const Estimate& of, double delay);  // equation 16: all three

}  // namespace sibyl::scatter
