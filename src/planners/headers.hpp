// What the plans of a collective have in common, whatever the algorithm; planners fill in the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sibyl/planners.hpp"

namespace sibyl {

// What all plans have: who takes part, in what rounds. One message a round, one part a vector or
// block.
inline PlanHeader plain_header(Collective collective, std::string_view algorithm,
                               const PlanRequest& request, std::uint32_t rounds) {
  PlanHeader header;
  header.collective = collective;
  header.algorithm = algorithm;
  header.ranks = request.ranks;
  header.root = request.root;
  header.partition = partition_of(collective);
  header.staging = combines(collective) ? 2 : 0;
  header.rounds = rounds;
  header.one_ported = true;
  return header;
}

// Blocks, or parts of a vector, that go around a ring in segments.
inline PlanHeader ring_header(Collective collective, const PlanRequest& request) {
  const std::uint32_t rounds = static_cast<std::uint32_t>(request.ranks - 1) * request.segments;
  PlanHeader header = plain_header(collective, "ring", request, rounds);
  header.segments = request.segments;
  header.tag_span = std::max<std::uint32_t>(1, rounds);
  return header;
}

// Inclusive and exclusive scans of whole vectors: in rank order, two messages staged.
inline PlanHeader scan_header(Collective collective, std::string_view algorithm,
                              const PlanRequest& request, std::uint32_t rounds) {
  PlanHeader header = plain_header(collective, algorithm, request, rounds);
  header.keeps_order = true;
  return header;
}

}  // namespace sibyl
