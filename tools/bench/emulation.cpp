// Two sleeps; see emulation.hpp.
#include "bench/emulation.hpp"

#include <algorithm>

#include "bench/clock.hpp"

namespace sibyl::bench {
namespace {

// What is reported lies between 0 and 1.
constexpr double least = 0.001;
constexpr double most = 0.999;

}  // namespace

void emulate_computation(double start, double seconds, double spin, ComputationObserver& observer) {
  const double end = start + seconds;
  sleep_until(start, spin);
  const double begun = now();
  observer.started();
  sleep_until(start + observer.edge_of(seconds), 0);
  // A process that wakes up late finds its computation further than half.
  const double left = end - begun;
  observer.reached(left > 0 ? std::clamp((now() - begun) / left, least, most) : most);
  sleep_until(end, spin);
  observer.ended();
}

}  // namespace sibyl::bench
