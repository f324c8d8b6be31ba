// The smallest k with 2^k >= n: the number of rounds in which one rank can reach n ranks, or one
// value can come from n ranks, when nobody talks to more than one partner at a time.
#pragma once

#include <bit>
#include <cstdint>

namespace sibyl {

constexpr std::uint32_t ceil_log2(std::uint64_t n) {
  return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

}  // namespace sibyl
