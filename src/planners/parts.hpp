// What algorithms that cut the vector into as many parts as there are ranks have in common.
#pragma once

#include <cstdint>
#include <string>

#include "sibyl/planners.hpp"

namespace sibyl {

// Empty when a plan can number the parts that all ranks hold.
inline std::string check_part_per_rank(const PlanRequest& request) {
  constexpr std::uint64_t most_units = 1U << 30;
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  if (ranks * ranks <= most_units) return {};
  return "there are " + std::to_string(ranks) +
         " ranks; ask for at most 32768 where each has a part of the vector";
}

}  // namespace sibyl
