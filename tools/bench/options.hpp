// The command line of the benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/block_counts.hpp"
#include "bench/operation.hpp"
#include "bench/prediction.hpp"

namespace sibyl::bench {

enum class Mode : std::uint8_t {
  calls,     // bare calls in turns: what a call costs
  arrivals,  // the benchmark of the papers: emulated computation, arrival patterns
  thread,    // what the thread in the background costs
};

// One cell of `arrivals`.
struct ArrivalCell {
  // In all for gather, scatter and allgather, regular or not; else of each rank: its vector, or all
  // blocks that it sends in an all-to-all. A barrier has none.
  long long bytes = 0;
  int block = 0;                 // instead of bytes: elements, b of the paper's problems
  double max_delay = 0;          // seconds
  std::string pattern = "flat";  // shape or file; none: bare calls after a barrier
  CountShape counts = CountShape::same;

  bool bare() const { return pattern == "none"; }
};

struct Options {
  Mode mode = Mode::calls;
  Operation operation = Operation::exscan;
  int root = 0;
  std::vector<std::string> operators;   // empty: those that are usual for the operation and mode
  std::vector<std::string> contenders;  // empty: all but the library's forced variants
  std::string reference = "native";
  int warm_up = 15;
  unsigned seed = 1;
  // calls
  std::vector<int> counts{1, 10, 100, 1000, 10000, 100000};
  // The contenders that must not be slower, for the judge; none: auto, where it takes part.
  std::vector<std::string> held;
  int repetitions = 200;
  double batch_seconds = 50e-6;  // how long a batch of calls should take; 0: no batches
  // arrivals
  std::vector<ArrivalCell> cells;
  int iterations = 128;
  double compute_seconds = 0.2;  // without the delay
  Prediction prediction = Prediction::right;
  double alpha = 0;  // of the bounds; measured unless beta is given
  double beta = 0;
  int ranks_per_node = 1;
  // thread
  bool threads = true;  // ask MPI for MPI_THREAD_MULTIPLE

  bool list = false;    // print the names of the contenders
  std::string help;     // what was asked for; empty: no help was
  std::string problem;  // one line; empty: the command line was understood
};

// Reads the command line; keeps no state of its own, so that simulated ranks may share a process.
Options parse_options(int argument_count, char** arguments);

}  // namespace sibyl::bench
