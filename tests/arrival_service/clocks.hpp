// Clocks that are seconds apart, for ranks that in truth read one and the same.
#pragma once

#include <cstdint>

#include "arrival_service/clock.hpp"

namespace sibyl::test {

inline constexpr std::int64_t second = 1'000'000'000;

// Rank r's clock: since all ranks of the test read one true clock, each knows what another's says.
inline LocalClock clock_of(int rank) {
  return {rank * (rank % 2 == 0 ? 3 : -2) * second, rank * 1e-4};
}

}  // namespace sibyl::test
