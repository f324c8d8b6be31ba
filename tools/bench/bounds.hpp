// Lower bounds of the run time of a collective under an arrival pattern, in the model of the
// papers: a message of m bytes takes alpha + beta m, a rank sends one message and receives one at a
// time.
//
// A send buffer is not read before its rank arrives. A receive buffer of gathers, scatters, reduce
// and scans may be filled before, that of the others only where `early` says that it is known
// before the call, as in the persistent form (of short messages, which MPI takes in before, this is
// no bound).
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
//   reduce            a_last + alpha + beta m, a_last the last arrival on another node
//   scan, exscan      the last rank needs all others: a_last + alpha + beta m as above, and
//                     ceil(log2 p) alpha + beta m after the first arrival (alpha + beta m where
//                     nodes have several ranks)
//   bcast             a rank's vector comes when it and the root are there: the later of the two
//                     + alpha + beta m; and a_root + ceil(log2 p) alpha
//   allreduce         a_last + alpha + beta m (p + kappa - 2) / p: every operand but one has to be
//                     merged, and p - 1 results delivered; kappa - 1 merges are left at a_last,
//                     the others have fitted on the links of the ranks that were there
//   reduce_scatter(_block)
//                     what a rank has for others leaves it: a_i + alpha + beta (all blocks but
//                     those of its node)
//   allgather(v), alltoall(v)
//                     the rule of gather for what every rank sends, and for what it receives, each
//                     block at the later of its two ranks' arrivals
//   barrier           a_last
// the last four never before a_last + ceil(log2 p) alpha (alpha where nodes have several ranks),
// since all ranks hear of the last one, unless a block is empty; none before the last arrival.
// `bytes` is each rank's block, or vector; of alltoall each rank's block for any other, of
// alltoallv the block of every pair, those of rank 0 first.
double run_time_bound(Operation operation, std::span<const double> arrivals,
                      std::span<const double> bytes, int root, const Network& network,
                      bool early = false);

}  // namespace sibyl::bench
