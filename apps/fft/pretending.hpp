// What ranks say of themselves that are to seem to come when others do: the control of what it is
// worth to know who is late.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "pretended_edge.hpp"

namespace sibyl::fft {

// Whose time each rank tells: all ranks' numbers in another order, by the number of the window.
inline std::vector<std::size_t> told_of(std::size_t ranks, std::uint64_t window) {
  std::vector<std::size_t> others(ranks);
  std::iota(others.begin(), others.end(), std::size_t{0});
  std::mt19937_64 random(window);
  std::shuffle(others.begin(), others.end(), random);
  return others;
}

// The part of its work that a rank says it has done when it has done half of it in `half` seconds,
// so that it seems to come `later` seconds later than it will.
inline double told_fraction(double half, double later) {
  return pretended_fraction(half, 2 * half + later);
}

}  // namespace sibyl::fft
