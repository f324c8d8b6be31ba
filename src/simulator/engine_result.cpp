// What a run has come to; see engine.hpp.
#include "simulator/engine.hpp"

#include <algorithm>
#include <limits>

namespace sibyl::simulator {

void Engine::add_up() {
  double latest_exit = 0;
  double latest_arrival = 0;
  double earliest_arrival = arrival(0);
  double elapsed = 0;
  result_.exits.reserve(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const double arrived = arrival(static_cast<Rank>(r));
    result_.exits.push_back(ranks_[r].exit);
    latest_exit = std::max(latest_exit, ranks_[r].exit);
    latest_arrival = std::max(latest_arrival, arrived);
    earliest_arrival = std::min(earliest_arrival, arrived);
    elapsed += ranks_[r].exit - arrived;
  }
  result_.run_time = latest_exit - earliest_arrival;
  result_.absorbed = latest_exit - latest_arrival;
  result_.elapsed = elapsed / static_cast<double>(ranks_.size());
}

std::string Engine::explain_deadlock() const {
  for (std::uint32_t i = 0; i < programs_->count(); ++i) {
    if ((flags_[i] & done) != 0) continue;
    const SimStep& step = programs_->step(i);
    return "the programs cannot end: rank " + std::to_string(step.rank) + " waits forever with a " +
           std::string(name_of(step.kind)) + " of round " + std::to_string(step.round);
  }
  return "the programs cannot end";
}

}  // namespace sibyl::simulator
