// FFTW's part: the transform of a rank's own block, and the direct transform of a whole window that
// a result is compared with. No MPI here.
#pragma once

#include <fftw3.h>

#include <cstddef>
#include <span>

#include "fft/decimation.hpp"

namespace sibyl::fft {

// A transform in place of a block in single precision, by several threads.
class LocalTransform {
 public:
  // Planning overwrites the block.
  LocalTransform(std::span<Complex> block, int threads);
  ~LocalTransform();
  LocalTransform(const LocalTransform&) = delete;
  LocalTransform& operator=(const LocalTransform&) = delete;

  void run() const { fftwf_execute(plan_); }

 private:
  fftwf_plan plan_ = nullptr;
};

// How far a spectrum is from the direct transform of its samples in double precision: the norm of
// the difference over the norm of the spectrum.
double error_against_direct(std::span<const float> samples, std::span<const Complex> spectrum);

// The largest such error that rounding in single precision explains: a few units a stage.
double error_limit(std::size_t size);

}  // namespace sibyl::fft
