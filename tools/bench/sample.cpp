// Metrics of one operation; see sample.hpp.
#include "bench/sample.hpp"

#include <algorithm>
#include <cstddef>

namespace sibyl::bench {

Sample evaluate(Operation operation, std::span<const double> arrivals,
                std::span<const double> exits, std::span<const double> late,
                std::span<const double> bytes, int root, const Network& network, bool early) {
  Sample sample;
  const double first_in = *std::min_element(arrivals.begin(), arrivals.end());
  const double last_in = *std::max_element(arrivals.begin(), arrivals.end());
  const double last_out = *std::max_element(exits.begin(), exits.end());
  sample.run = last_out - first_in;
  sample.absorbed = last_out - last_in;
  sample.spread = last_in - first_in;
  for (std::size_t i = 0; i < arrivals.size(); ++i) sample.elapsed += exits[i] - arrivals[i];
  sample.elapsed /= static_cast<double>(arrivals.size());
  sample.bound = run_time_bound(operation, arrivals, bytes, root, network, early);
  sample.late = *std::max_element(late.begin(), late.end());
  return sample;
}

Sample slowest(std::span<const double> arrivals, std::span<const double> exits) {
  Sample sample;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const double own = exits[i] - arrivals[i];
    sample.run = std::max(sample.run, own);
    sample.elapsed += own;
  }
  sample.elapsed /= static_cast<double>(arrivals.size());
  sample.absorbed = sample.run;
  return sample;
}

}  // namespace sibyl::bench
