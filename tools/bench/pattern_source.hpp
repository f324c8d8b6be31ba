// The arrival times of each iteration: drawn from a shape, or replayed from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sibyl/arrival.hpp"

namespace sibyl::bench {

class PatternSource {
 public:
  // `text` names a shape, or a file. A file holds one pattern, or several of which each begins
  // with a line "# call"; they are replayed in turn. The file is read at rank 0 and handed to all.
  // Collective over MPI_COMM_WORLD.
  PatternSource(const std::string& text, double max_delay, int ranks, int root, std::uint64_t seed);

  const std::string& problem() const { return problem_; }  // empty: all is well
  // Seconds after the start, one per rank.
  std::vector<double> times(std::uint64_t iteration) const;

 private:
  void read_file(const std::string& name, int ranks);

  PatternRequest request_;
  std::vector<ArrivalPattern> recorded_;
  std::string problem_;
};

}  // namespace sibyl::bench
