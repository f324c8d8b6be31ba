// What algorithms that cut the vector into as many parts as there are ranks have in common, or the
// block of each rank into segments.
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

// Empty when a plan can number the segments of all blocks.
inline std::string check_segments_of_blocks(const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the blocks into at least 1";
  constexpr std::uint64_t most_units = 1U << 30;
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  if (ranks * request.segments <= most_units) return {};
  return std::to_string(ranks) + " ranks with " + std::to_string(request.segments) +
         " segments a block are more than a plan can number (2^30 in all); ask for fewer segments";
}

// Both.
inline std::string check_part_per_rank_in_segments(const PlanRequest& request) {
  const std::string wrong = check_segments_of_blocks(request);
  return wrong.empty() ? check_part_per_rank(request) : wrong;
}

}  // namespace sibyl
