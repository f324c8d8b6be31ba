// Two halves of sleep; see emulation.hpp.
#include "bench/emulation.hpp"

#include "bench/clock.hpp"

namespace sibyl::bench {

void emulate_computation(double start, double seconds, double spin, ComputationObserver& observer) {
  sleep_until(start, spin);
  observer.started();
  sleep_until(start + seconds / 2, 0);
  observer.reached(0.5);
  sleep_until(start + seconds, spin);
  observer.ended();
}

}  // namespace sibyl::bench
