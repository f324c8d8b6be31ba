// The Fourier transform by its definition, and samples to try it on.
#pragma once

#include <complex>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

namespace sibyl::fft::test {

inline std::vector<float> random_samples(std::size_t size, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  std::vector<float> samples(size);
  for (float& sample : samples) sample = distribution(generator);
  return samples;
}

// Bins 0 to size / 2 as sums over all samples.
inline std::vector<std::complex<double>> direct_sum(const std::vector<float>& samples) {
  const std::size_t size = samples.size();
  std::vector<std::complex<double>> bins(size / 2 + 1);
  for (std::size_t k = 0; k < bins.size(); ++k) {
    for (std::size_t j = 0; j < size; ++j) {
      const double turns = static_cast<double>(k * j % size) / static_cast<double>(size);
      bins[k] += std::polar(static_cast<double>(samples[j]), -2.0 * std::numbers::pi * turns);
    }
  }
  return bins;
}

}  // namespace sibyl::fft::test
