// The times of every iteration, and what is said of them. No MPI here.
#pragma once

#include <string>
#include <vector>

namespace sibyl::fft {

// Of one way to gather, one value for each iteration, in seconds.
struct Times {
  std::string gather;
  std::vector<double> whole;    // from the samples to the spectrum, on rank 0
  std::vector<double> run;      // from the first rank's arrival to the last rank's exit; empty
                                // where ranks have no common clock
  std::vector<double> elapsed;  // in the gather, mean over the ranks
};

struct Quartiles {
  double low = 0, middle = 0, high = 0;
};

Quartiles quartiles(std::vector<double> values);

// A table in milliseconds, one way to gather a line; the factors are medians of the quotients
// of the iterations: how much longer the first one takes.
std::string table(const std::vector<Times>& all);

}  // namespace sibyl::fft
