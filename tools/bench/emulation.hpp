// The computation that the benchmark pretends to do (Proficz 2020, figure 13): two halves, with a
// report of progress in between.
//
// Nothing is computed. A rank sleeps to an absolute time on its clock, so that ranks which
// outnumber the cores do not take each other's time; the last moments are spent spinning where
// every rank has a core, since waking up takes tens of microseconds. The computation has a core of
// its own, as in the papers: it goes on while the rank that has slept waits for one of this
// machine.
#pragma once

namespace sibyl::bench {

// What an iterative application tells about its computation. The benchmark calls it where an
// application would; the one here hears and does nothing, that of persistent.hpp passes it on.
class ComputationObserver {
 public:
  virtual ~ComputationObserver() = default;
  // When it wants to hear how far a computation of so many seconds is, in seconds from its start.
  virtual double edge_of(double seconds) const { return seconds / 2; }
  virtual void started() {}
  virtual void reached(double fraction) { static_cast<void>(fraction); }
  virtual void ended() {}
};

// "Computes" from `start` (of this rank's clock) for `seconds`, in two parts, halves as a rule.
void emulate_computation(double start, double seconds, double spin, ComputationObserver& observer);

}  // namespace sibyl::bench
