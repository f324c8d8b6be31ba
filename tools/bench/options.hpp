// The command line of the benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl::bench {

struct Options {
  Collective collective = Collective::exscan;
  std::vector<int> counts{1, 10, 100, 1000, 10000, 100000};
  std::vector<std::string> operators{"bxor", "matrix"};
  std::vector<std::string> contenders;  // empty: all that the collective has
  std::string reference = "native";
  std::vector<std::string> held{"auto"};  // the contenders that must not be slower
  int repetitions = 200;
  int warm_up = 15;
  double batch_seconds = 50e-6;  // how long a batch of calls should take; 0: no batches
  double margin = 0.05;          // of the reference's median
  double margin_seconds = 200e-9;
  double significance = 0.05;  // of the whole run
  unsigned seed = 1;
  std::string csv;
  std::string json;
  bool help = false;
  std::string problem;  // one line; empty: the command line was understood
};

// Reads the command line; keeps no state of its own, so that simulated ranks may share a process.
Options parse_options(int argument_count, char** arguments);
std::string usage(const std::string& program);

}  // namespace sibyl::bench
