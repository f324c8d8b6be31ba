// What the plans of a collective have in common, whatever the algorithm; planners fill in the rest.
#pragma once

#include <cstdint>
#include <string_view>

#include "sibyl/planners.hpp"

namespace sibyl {

// Gather and scatter.
inline PlanHeader blocks_header(Collective collective, std::string_view algorithm,
                                const PlanRequest& request, std::uint32_t rounds) {
  PlanHeader header;
  header.collective = collective;
  header.algorithm = algorithm;
  header.ranks = request.ranks;
  header.root = request.root;
  header.partition = Partition::blocks;
  header.rounds = rounds;
  header.one_ported = true;
  return header;
}

// Inclusive and exclusive scans of whole vectors: in rank order, two messages staged.
inline PlanHeader scan_header(Collective collective, std::string_view algorithm,
                              const PlanRequest& request, std::uint32_t rounds) {
  PlanHeader header;
  header.collective = collective;
  header.algorithm = algorithm;
  header.ranks = request.ranks;
  header.staging = 2;
  header.rounds = rounds;
  header.one_ported = true;
  header.keeps_order = true;
  return header;
}

// Reductions of vectors in parts to a root, two messages staged.
inline PlanHeader reduce_header(std::string_view algorithm, const PlanRequest& request,
                                std::uint32_t rounds) {
  PlanHeader header;
  header.collective = Collective::reduce;
  header.algorithm = algorithm;
  header.ranks = request.ranks;
  header.root = request.root;
  header.staging = 2;
  header.rounds = rounds;
  header.one_ported = true;
  return header;
}

}  // namespace sibyl
