// What the plans of a collective have in common, whatever the algorithm; planners fill in the rest.
#pragma once

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

// Inclusive and exclusive scans of whole vectors: in rank order, two messages staged.
inline PlanHeader scan_header(Collective collective, std::string_view algorithm,
                              const PlanRequest& request, std::uint32_t rounds) {
  PlanHeader header = plain_header(collective, algorithm, request, rounds);
  header.keeps_order = true;
  return header;
}

}  // namespace sibyl
