// The arrivals that earlier turns of a contender suggest, for history:NAME: as in a program that
// says nothing of its computations, whose ranks' arrivals are all there is to go by.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arrival/site_history.hpp"

namespace sibyl::bench {

class LearntArrivals {
 public:
  LearntArrivals(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  // The next turn, in seconds after the first rank; empty before there was one.
  std::span<const double> told() const { return told_; }
  // The ranks arrived at these times in the last turn; rank 0 knows. Returns how far each was from
  // what was told before that turn, at rank 0; empty where nothing was. Collective over
  // MPI_COMM_WORLD.
  std::vector<double> learn(std::span<const double> arrivals);

 private:
  int rank_;
  int ranks_;
  std::vector<double> told_;
  std::unique_ptr<SiteHistory> history_;  // at rank 0
};

}  // namespace sibyl::bench
