// The network of the tests that count time. Both numbers are powers of two, so that sums of them
// are not rounded and times can be compared exactly.
#pragma once

namespace sibyl {

inline constexpr double alpha = 1.0 / 16;
inline constexpr double beta = 1.0 / 64;

}  // namespace sibyl
