// FFTW's part; see local_transform.hpp.
#include "fft/local_transform.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace sibyl::fft {

LocalTransform::LocalTransform(std::span<Complex> block, int threads) {
  static const bool ready = fftwf_init_threads() != 0;
  if (ready) fftwf_plan_with_nthreads(threads);
  auto* data = reinterpret_cast<fftwf_complex*>(block.data());
  plan_ = fftwf_plan_dft_1d(static_cast<int>(block.size()), data, data, FFTW_FORWARD, FFTW_MEASURE);
}

LocalTransform::~LocalTransform() { fftwf_destroy_plan(plan_); }

double error_against_direct(std::span<const float> samples, std::span<const Complex> spectrum) {
  std::vector<double> input(samples.begin(), samples.end());
  std::vector<std::complex<double>> direct(samples.size() / 2 + 1);
  const fftw_plan plan = fftw_plan_dft_r2c_1d(static_cast<int>(samples.size()), input.data(),
                                              reinterpret_cast<fftw_complex*>(direct.data()),
                                              FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  double difference = 0, norm = 0;
  for (std::size_t k = 0; k < direct.size(); ++k) {
    difference += std::norm(std::complex<double>(spectrum[k]) - direct[k]);
    norm += std::norm(direct[k]);
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

double error_limit(std::size_t size) {
  return 4.0 * std::numeric_limits<float>::epsilon() * std::log2(static_cast<double>(size));
}

}  // namespace sibyl::fft
