// The command line of sibyl-fft.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sibyl::fft {

struct Options {
  std::string recording;
  std::size_t size = 262144;  // samples of a window: 1 MiB of floats, as in the paper
  int iterations = 1000;      // windows, for each way to gather
  std::vector<std::string> gathers{"MPI"};
  int threads = 1;        // of FFTW, on every rank
  double compute = 0;     // seconds that a rank's own transform takes at least
  int check_every = 100;  // iterations; 0: no result is compared with the direct transform
  std::string json;
  std::string plot;

  std::string help;     // what was asked for; empty: no help was
  std::string problem;  // one line; empty: the command line was understood
};

Options parse_options(int argument_count, char** arguments);

// What is wrong with these options on `ranks` ranks, which read a common clock or not; empty:
// nothing.
std::string problem_on(const Options& options, std::size_t ranks, bool common_clock);

}  // namespace sibyl::fft
