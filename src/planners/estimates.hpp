// What the run-time estimates of the papers are about: Hockney's model with one port, full duplex.
//
// An estimate is a function next to the algorithm that it is about, one for each equation; the
// simulator's clock agrees with all of them (tests/simulator/equations_test.cpp).
#pragma once

namespace sibyl {

struct Estimate {
  double alpha = 0;  // startup latency of a message, seconds
  double beta = 0;   // seconds per unit of data
  double ranks = 1;  // P; estimates of binomial trees hold for powers of two
  double data = 0;   // N, at the root in all

  double block() const { return data / ranks; }
};

}  // namespace sibyl
