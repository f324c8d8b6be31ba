// What the picture of a run shows: levels over frequency, and over time and frequency. No MPI here.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fft/decimation.hpp"

namespace sibyl::fft {

// Collects the spectra of some of the windows in bands that are equally wide on a logarithmic scale
// over three decades up to half the sampling rate. A band shows its strongest bin, so that narrow
// lines stay visible.
class Picture {
 public:
  // Of windows of `size` samples at `rate` a second.
  Picture(std::size_t size, double rate);

  // The spectrum of the window that begins at this second.
  void add(std::span<const Complex> spectrum, double second);

  const std::vector<double>& frequencies() const { return frequencies_; }  // middle of each band
  const std::vector<double>& seconds() const { return seconds_; }          // of each row
  const std::vector<std::vector<double>>& rows() const { return rows_; }   // levels in dB
  std::vector<double> mean() const;  // levels in dB of the mean power over all rows

 private:
  std::size_t size_;
  std::vector<std::size_t> edges_;  // bins; band b is edges_[b] to edges_[b + 1] - 1, at least one
  std::vector<double> frequencies_;
  std::vector<double> seconds_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> power_;  // of each bin, over all rows
};

}  // namespace sibyl::fft
