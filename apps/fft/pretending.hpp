// What ranks say of themselves that are to seem to come when others do: the control of what it is
// worth to know who is late.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

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
// so that it seems to come `later` seconds later than it will; of work that would seem to be over
// by now nearly all.
inline double told_fraction(double half, double later) {
  constexpr double nearly_all = 0.999;
  const double pretended = 2 * half + later;
  return pretended * nearly_all <= half ? nearly_all : half / pretended;
}

}  // namespace sibyl::fft
