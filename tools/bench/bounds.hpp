// Lower bounds of the run time of a collective under an arrival pattern, in the model of the
// papers: a message of m bytes takes alpha + beta m, a rank sends one message and receives one at a
// time.
//
// They hold for every algorithm, also for those that work in the background: a receive buffer may
// be filled before its rank arrives, a send buffer may not be read before.
//
// Where nodes have several ranks, the link is the node's: only what crosses it counts, and their
// ranks may use it in parallel.
#pragma once

#include <span>

#include "bench/operation.hpp"

namespace sibyl::bench {

struct Network {
  double alpha = 0;        // seconds
  double beta = 0;         // seconds per byte
  int ranks_per_node = 1;  // consecutive ranks, with nothing but memory between them
};

// No rank can leave before this, in seconds after the first arrival.
//   gather, gatherv   what arrives at or after a time has still to pass the root's link then:
//                     max over k of a_k + alpha + beta (blocks of ranks that arrive at a_k or
//                     later, without those on the root's node)
//   scatter, scatterv a_root + alpha + beta (all blocks but those of the root's node)
//   allgather, bcast  as gather and scatter, seen from the root
//   allreduce         a_last + alpha + beta m, a_last the last arrival
//   reduce            a_last + alpha + beta m, a_last the last arrival on another node
//   scan, exscan      the last rank needs all others: a_last + alpha + beta m as above, and
//                     ceil(log2 p) alpha + beta m after the first arrival (alpha + beta m where
//                     nodes have several ranks)
// and never less than the last arrival. `bytes` is each rank's block, or vector.
double run_time_bound(Operation operation, std::span<const double> arrivals,
                      std::span<const double> bytes, int root, const Network& network);

}  // namespace sibyl::bench
