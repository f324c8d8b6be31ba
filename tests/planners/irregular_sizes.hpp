// The sizes of irregular blocks with which trees are tried.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

using Sizes = std::vector<std::uint64_t>;

// The six problems of the paper with base size b, and a random one with holes.
inline std::vector<Sizes> problems(Rank ranks, std::uint64_t b, std::uint32_t seed) {
  const auto p = static_cast<std::uint64_t>(ranks);
  std::mt19937_64 random(seed);
  std::vector<Sizes> all(7, Sizes(p, 0));
  for (std::uint64_t i = 0; i < p; ++i) {
    all[0][i] = b;
    all[1][i] = random() % (2 * b) + 1;
    all[2][i] = random() % 5 == 0 ? 5 * b : 1;
    all[3][i] = 2 * b * (p - i) / p + 1;
    all[4][i] = i % 2 == 0 ? b + b / 2 : b - b / 2;
    all[5][i] = i == 0 || i + 1 == p ? b : 0;
    all[6][i] = random() % 3 == 0 ? 0 : random() % 1000;
  }
  return all;
}

inline PlanRequest irregular_request(const Sizes& sizes, Rank root, std::uint64_t direct_from,
                                     Rank per_node) {
  PlanRequest request;
  request.ranks = static_cast<Rank>(sizes.size());
  request.root = root;
  request.sizes = sizes;
  request.direct_from = direct_from;
  request.ranks_per_node = per_node;
  return request;
}

}  // namespace sibyl
