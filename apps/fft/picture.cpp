// What the picture of a run shows; see picture.hpp.
#include "fft/picture.hpp"

#include <algorithm>
#include <cmath>

namespace sibyl::fft {
namespace {

constexpr std::size_t bands = 600;
constexpr double decades = 3.0;
constexpr double floor_level = -160.0;  // dB: what single precision cannot tell from silence

// In dB, a sine of full scale is 0: under a Hann window it comes to a quarter of the size.
double level(double power, std::size_t size) {
  const double full = static_cast<double>(size) / 4.0;
  return std::max(floor_level, 10.0 * std::log10(std::max(power / (full * full), 1e-30)));
}

}  // namespace

Picture::Picture(std::size_t size, double rate) : size_(size), power_(size / 2 + 1) {
  const double last = static_cast<double>(size) / 2.0;
  for (std::size_t band = 0; band <= bands; ++band) {
    const double part = static_cast<double>(band) / static_cast<double>(bands);
    const double bin = last * std::pow(10.0, decades * (part - 1.0));
    edges_.push_back(static_cast<std::size_t>(bin));
    if (band < bands) {
      const double middle = bin * std::pow(10.0, 0.5 * decades / static_cast<double>(bands));
      frequencies_.push_back(middle * rate / static_cast<double>(size));
    }
  }
}

void Picture::add(std::span<const Complex> spectrum, double second) {
  for (std::size_t k = 0; k < power_.size(); ++k) power_[k] += std::norm(spectrum[k]);
  std::vector<double> row(bands);
  for (std::size_t band = 0; band < bands; ++band) {
    double most = 0;
    const std::size_t end = std::max(edges_[band + 1], edges_[band] + 1);
    for (std::size_t k = edges_[band]; k < end; ++k) {
      most = std::max(most, static_cast<double>(std::norm(spectrum[k])));
    }
    row[band] = level(most, size_);
  }
  rows_.push_back(std::move(row));
  seconds_.push_back(second);
}

std::vector<double> Picture::mean() const {
  std::vector<double> levels(bands);
  const double share = rows_.empty() ? 0.0 : 1.0 / static_cast<double>(rows_.size());
  for (std::size_t band = 0; band < bands; ++band) {
    const std::size_t end = std::max(edges_[band + 1], edges_[band] + 1);
    const auto begin = power_.begin();
    const double most = *std::max_element(begin + static_cast<std::ptrdiff_t>(edges_[band]),
                                          begin + static_cast<std::ptrdiff_t>(end));
    levels[band] = level(most * share, size_);
  }
  return levels;
}

}  // namespace sibyl::fft
