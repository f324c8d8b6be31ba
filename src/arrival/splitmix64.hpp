// SplitMix64, the generator of everything random in Sibyl that must be the same on every platform.
//
// The state advances by 0x9e3779b97f4a7c15; the output is the state through the finaliser below
// (G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014;
// constants of S. Vigna's splitmix64.c). The first output for seed 0 is 0xe220a8397b1dcdaf.
#pragma once

#include <cstdint>

namespace sibyl {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // A multiple of 2^-53 in [0, 1): the upper 53 bits of next().
  double next_unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace sibyl
