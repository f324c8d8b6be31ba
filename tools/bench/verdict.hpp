// What is said of a contender beside the reference, in two or three words.
#pragma once

#include <string_view>

#include "bench/statistics.hpp"

namespace sibyl::bench {

struct Comparison {
  bool is_reference = false;
  bool held = false;    // must not be slower
  bool slower = false;  // by more than the margins, proven
  bool faster = false;  // proven
  Interval ratio;       // 95 % of the median ratio to the reference
};

// "not slower" is a statement about times, so it is not made where the ratio is known to lie above
// one and the relative margin: what has kept the contender from SLOWER there is the margin in
// seconds, by which calls of a fraction of a microsecond may differ.
inline std::string_view verdict(const Comparison& found, double relative_margin) {
  if (found.is_reference) return "reference";
  if (found.slower) return "SLOWER";
  if (found.faster) return "faster";
  if (!found.held) return "";
  return found.ratio.low > 1 + relative_margin ? "within the margin" : "not slower";
}

}  // namespace sibyl::bench
