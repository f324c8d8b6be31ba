// The measurement of bare calls: all contenders in turn, call by call, in one loop. Raw samples go
// out as lines of JSON; `sibyl bench calls` reads and judges them.
#pragma once

#include <vector>

#include "bench/contenders.hpp"
#include "bench/options.hpp"
#include "bench/provenance.hpp"

namespace sibyl::bench {

// Collective over MPI_COMM_WORLD; rank 0 writes to standard output. 0, or 3 when a result was
// wrong.
//
// Every measurement begins with start_together(); the order in which the contenders take their
// turns is drawn anew for every repetition, the same on all ranks. Nothing is measured where the
// first contender, the reference, is wrong.
//
// The lines, each an object with "type":
//   begin  provenance; collective, reference, held, repetitions, warm_up; alpha_near_s and
//          alpha_far_s, half a round trip of one byte between rank 0 and ranks 1 and the last
//   calls  a cell: operator, count, bytes, batch (the calls of a batch), message_s (half a round
//          trip of a message of this size, ranks 0 and 1), wrong (the contenders whose result is
//          wrong, and that are left out), and series: of each contender algorithm, single_s and
//          batch_s, in order of repetitions the seconds a call took on the slowest rank, alone
//          between two barriers and in a batch; no batch_s where batches were not measured
//   end
int run_calls(const Options& options, const Provenance& provenance, const std::vector<Side>& sides);

}  // namespace sibyl::bench
