// Tests that run once for each row of the table of algorithms.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sibyl/planners.hpp"

namespace sibyl {

inline bool has_root(const Algorithm& algorithm) { return has_root(algorithm.collective); }

// The rows of the table for which `has` holds.
template <typename Has>
auto rows(Has has) {
  std::vector<const Algorithm*> list;
  for (const Algorithm& algorithm : algorithms()) {
    if (has(algorithm)) list.push_back(&algorithm);
  }
  return testing::ValuesIn(list);
}

inline std::string name_of_row(const testing::TestParamInfo<const Algorithm*>& row) {
  std::string text =
      std::string(name_of(row.param->collective)) + "_" + std::string(row.param->name);
  std::ranges::replace(text, '-', '_');
  return text;
}

}  // namespace sibyl
