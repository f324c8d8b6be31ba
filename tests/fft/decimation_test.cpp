// Butterflies, the order of their results, and FFTW's part, on one process.
#include "fft/decimation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fft/direct_sum.hpp"
#include "fft/local_transform.hpp"

namespace sibyl::fft {
namespace {

// The blocks of all ranks, in rank order, as rank 0 and its slaves make them.
void decimate(std::span<Complex> points, std::size_t blocks, std::span<const Complex> factors) {
  if (blocks == 1) return;
  butterflies(points, factors);
  decimate(points.first(points.size() / 2), blocks / 2, factors);
  decimate(points.subspan(points.size() / 2), blocks / 2, factors);
}

std::vector<Complex> spectrum_of(const std::vector<float>& samples, std::size_t blocks) {
  const std::size_t size = samples.size();
  const std::vector<Complex> factors = make_factors(size);
  std::vector<Complex> points(size / 2);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {samples[2 * i], samples[2 * i + 1]};
  decimate(points, blocks, factors);
  const std::size_t block = points.size() / blocks;
  std::vector<Complex> gathered(points.size());
  for (std::size_t b = 0; b < blocks; ++b) {
    std::vector<Complex> own(block);
    const LocalTransform local(own, 1);
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(b * block);
    std::copy(from, from + static_cast<std::ptrdiff_t>(block), own.begin());
    local.run();
    std::copy(own.begin(), own.end(), gathered.begin() + static_cast<std::ptrdiff_t>(b * block));
  }
  std::vector<Complex> spectrum(size / 2 + 1);
  real_spectrum(gathered, blocks, factors, spectrum);
  return spectrum;
}

TEST(Decimation, GivesTheSumsOfTheDefinitionForAnyNumberOfBlocks) {
  for (const std::size_t size : {2, 4, 16, 128, 512}) {
    const std::vector<float> samples = test::random_samples(size);
    const std::vector<std::complex<double>> direct = test::direct_sum(samples);
    for (std::size_t blocks = 1; blocks <= size / 2 && blocks <= 32; blocks *= 2) {
      const std::vector<Complex> spectrum = spectrum_of(samples, blocks);
      for (std::size_t k = 0; k < direct.size(); ++k) {
        EXPECT_LT(std::abs(std::complex<double>(spectrum[k]) - direct[k]),
                  1e-6 * static_cast<double>(size))
            << "bin " << k << " of " << size << " samples in " << blocks << " blocks";
      }
    }
  }
}

TEST(Decimation, StaysWithinTheErrorLimitOfALargeWindow) {
  const std::vector<float> samples = test::random_samples(65536);
  const double error = error_against_direct(samples, spectrum_of(samples, 8));
  EXPECT_GT(error, 0.0);
  EXPECT_LT(error, error_limit(samples.size()));
}

TEST(ErrorAgainstDirect, SeesOneWrongBin) {
  const std::vector<float> samples = test::random_samples(4096);
  std::vector<Complex> spectrum = spectrum_of(samples, 4);
  spectrum[77] *= -1.0F;
  EXPECT_GT(error_against_direct(samples, spectrum), error_limit(samples.size()));
}

TEST(ReverseBits, IsItsOwnInverse) {
  EXPECT_EQ(reverse_bits(0b0011, 4), 0b1100U);
  EXPECT_EQ(reverse_bits(0b001, 3), 0b100U);
  for (std::size_t number = 0; number < 64; ++number) {
    EXPECT_EQ(reverse_bits(reverse_bits(number, 6), 6), number);
  }
}

TEST(HannWindow, IsZeroAtItsStartAndOneInItsMiddle) {
  const std::vector<float> window = hann_window(1024);
  EXPECT_EQ(window[0], 0.0F);
  EXPECT_FLOAT_EQ(window[512], 1.0F);
  EXPECT_FLOAT_EQ(window[256], 0.5F);
}

}  // namespace
}  // namespace sibyl::fft
