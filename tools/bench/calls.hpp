// The measurement of bare calls, one cell: all contenders in turn, call by call, in one loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/options.hpp"

namespace sibyl::bench {

// Seconds of the slowest rank per call; filled at rank 0 only.
struct Series {
  std::string contender;
  std::vector<double> single;  // one call between the barriers
  std::vector<double> batch;   // the mean of `batch_size` calls; empty: not measured
};

struct Cell {
  std::string operator_name;
  int count = 0;
  std::size_t bytes = 0;
  int batch_size = 1;
  double message_seconds = 0;  // half a round trip of a message of this size, ranks 0 and 1
  std::vector<Series> series;
  std::vector<std::string> wrong;  // contenders whose result is wrong, and that are left out
};

// Collective over MPI_COMM_WORLD. Every measurement begins with start_together(); the order in
// which the contenders take their turns is drawn anew for every repetition, the same on all ranks.
// Nothing is measured where the first contender, the reference, is wrong.
Cell measure(const Options& options, const Operator& op, int count,
             std::vector<std::unique_ptr<Contender>>& contenders);

}  // namespace sibyl::bench
