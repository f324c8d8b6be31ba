// What the thread in the background costs a program, and what MPI_THREAD_MULTIPLE does, which it
// needs (`sibyl bench thread` runs this at both thread levels, in turns).
//
// The program is the iterative one of Proficz 2020, figure 4, that computes for real: every rank
// uses its processor as long as its share takes, half of it before the edge, then gathers. Where
// ranks outnumber the cores the thread takes its time from a computation. Then nothing is under way
// for a while, and last a message of one byte goes to and fro between ranks 0 and 1.
#pragma once

#include "bench/options.hpp"
#include "bench/provenance.hpp"

namespace sibyl::bench {

// Collective over MPI_COMM_WORLD; rank 0 writes one line, a JSON object:
//   level        of threads that MPI gives: single or multiple
//   has_thread   whether there is one
//   share        processor time of a rank's thread over that of its computation, the largest of all
//                ranks; and of the root alone: root_share
//   idle_share   the same over the time in which nothing was under way
//   turn_s       median time of an iteration; of the slowest rank
//   latency_s    half a round trip of one byte, the median of 50 `repetitions`; 0 for one rank
// 0, or 3 when what was gathered is wrong.
int run_thread_cost(const Options& options, const Provenance& provenance);

}  // namespace sibyl::bench
