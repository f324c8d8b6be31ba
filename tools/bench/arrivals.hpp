// The benchmark of the papers (004, figure 13; 001, section 6): collectives under arrival patterns.
//
// In every iteration each contender gets its turn, in an order drawn anew, with the same arrival
// pattern and the same data: start together, emulated computation in two halves, the operation, the
// check of its result. Raw samples go out as lines of JSON; whoever reads them judges.
//
// Bare calls (pattern "none") follow Traeff 2017, section 5, instead: a barrier, the call, the time
// of the slowest rank.
#pragma once

#include "bench/contenders.hpp"
#include "bench/options.hpp"
#include "bench/provenance.hpp"

namespace sibyl::bench {

// Collective over MPI_COMM_WORLD; rank 0 writes to standard output. 0, or 3 when a result was
// wrong, or 2 when a pattern file cannot be read.
//
// The lines, each an object with "type":
//   begin    provenance, alpha_s, beta_s_per_byte, clocks, cores, ranks_per_machine, parameters;
//            variants: by operation, the library's own algorithms and their numbers
//   cell     number and parameters of the cell that begins, bytes of each rank; of the paper's
//            problems also the elements in all, and in all after padding
//   sample   one contender's turn: cell, iteration, algorithm, and the metrics of sample.hpp; of
//            one that predicts arrivals error_s, how far it was off at the median rank, and
//            worst_error_s, at the rank where it was furthest off
//   clocks   of several machines, every few iterations and before the last sample of a cell: as
//            they are now, and drift_s, the most that one ran off in this cell between two looks
//   end      clocks after the run
int run_arrivals(const Options& options, const Provenance& provenance,
                 const std::vector<Side>& sides);

}  // namespace sibyl::bench
