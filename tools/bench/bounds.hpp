// Lower bounds of the run time of a collective under an arrival pattern, in the model of the
// papers: a message of m bytes takes alpha + beta m, a rank sends one message and receives one at a
// time.
//
// They hold for every algorithm, also for those that work in the background: a receive buffer may
// be filled before its rank arrives, a send buffer may not be read before.
#pragma once

#include <span>

#include "bench/operation.hpp"

namespace sibyl::bench {

struct Network {
  double alpha = 0;  // seconds
  double beta = 0;   // seconds per byte
};

// No rank can leave before this, in seconds after the first arrival.
//   gather, gatherv   what arrives at or after a time has still to pass the root's link then:
//                     max over k of a_k + alpha + beta (blocks of ranks that arrive at a_k or
//                     later)
//   scatter, scatterv a_root + alpha + beta (all blocks but the root's)
//   allgather, bcast  as gather and scatter, seen from the root
//   allreduce         a_last + alpha + beta m, a_last the last arrival
//   reduce            a_last + alpha + beta m, a_last the last arrival but the root's
//   scan, exscan      the last rank needs all others: a_last + alpha + beta m as above, and
//                     ceil(log2 p) alpha + beta m after the first arrival
// and never less than the last arrival. `bytes` is each rank's block, or vector.
double run_time_bound(Operation operation, std::span<const double> arrivals,
                      std::span<const double> bytes, int root, const Network& network);

}  // namespace sibyl::bench
