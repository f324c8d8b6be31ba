// Butterflies and the order of their results; see decimation.hpp.
#include "fft/decimation.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace sibyl::fft {

bool is_power_of_two(std::size_t number) { return std::has_single_bit(number); }

std::vector<Complex> make_factors(std::size_t size) {
  std::vector<Complex> factors(size / 2);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const double angle =
        -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    factors[k] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  return factors;
}

void butterflies(std::span<Complex> points, std::span<const Complex> factors) {
  const std::size_t half = points.size() / 2;
  const std::size_t stride = factors.size() / half;
  for (std::size_t k = 0; k < half; ++k) {
    const Complex a = points[k], b = points[k + half], difference = a - b, w = factors[k * stride];
    points[k] = a + b;
    // Written out: the operator of std::complex also looks for infinities.
    points[k + half] = {difference.real() * w.real() - difference.imag() * w.imag(),
                        difference.real() * w.imag() + difference.imag() * w.real()};
  }
}

std::size_t reverse_bits(std::size_t number, int bits) {
  std::size_t reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= ((number >> bit) & 1U) << (bits - 1 - bit);
  return reversed;
}

void real_spectrum(std::span<const Complex> gathered, std::size_t blocks,
                   std::span<const Complex> factors, std::span<Complex> spectrum) {
  const std::size_t points = gathered.size(), block = points / blocks;
  const int bits = std::countr_zero(blocks);
  std::vector<std::size_t> start(blocks);
  for (std::size_t b = 0; b < blocks; ++b) start[b] = reverse_bits(b, bits) * block;
  const auto bin = [&](std::size_t k) { return gathered[start[k & (blocks - 1)] + (k >> bits)]; };

  for (std::size_t k = 0; k <= points; ++k) {
    const Complex here = bin(k & (points - 1)),
                  mirrored = std::conj(bin((points - k) & (points - 1)));
    // The spectra of the even and of the odd samples.
    const Complex even = 0.5F * (here + mirrored), twice_i_odd = here - mirrored;
    const Complex odd{0.5F * twice_i_odd.imag(), -0.5F * twice_i_odd.real()};
    const Complex w = k < points ? factors[k] : Complex{-1.0F, 0.0F};
    spectrum[k] = {even.real() + odd.real() * w.real() - odd.imag() * w.imag(),
                   even.imag() + odd.real() * w.imag() + odd.imag() * w.real()};
  }
}

std::vector<float> hann_window(std::size_t size) {
  std::vector<float> window(size);
  for (std::size_t i = 0; i < size; ++i) {
    window[i] =
        static_cast<float>(0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) /
                                                static_cast<double>(size)));
  }
  return window;
}

}  // namespace sibyl::fft
