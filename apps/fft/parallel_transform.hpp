// The Fourier transform of a window over all ranks: master and slaves (Proficz 2020, section 6).
//
// Rank 0 does the first log2(p) stages of butterflies and sends every block off as soon as it is
// made; each rank transforms its own. Blocks leave in the order in which the recursion ends on
// them, the last rank's first and rank 0's own last, so the ranks come to the gather one after
// another, the highest first.
//
// Whoever wants to know when half of a rank's work is done gives a function that is called then:
// on rank 0 half of the window is sent off, elsewhere one of the rank's two blocks is finished.
//
// A slower computer can be played: a rank's own transform then takes a time that is given, and what
// it needs less is slept. That is half done after half of that time, on rank 0 too.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "fft/decimation.hpp"
#include "fft/local_transform.hpp"

namespace sibyl::fft {

class ParallelTransform {
 public:
  using HalfDone = std::function<void()>;

  // `size` real samples, a power of two of at least four per rank; the ranks are a power of two.
  // `seconds`: what the transform of a share takes at least.
  ParallelTransform(MPI_Comm comm, std::size_t size, int threads, double seconds = 0);

  // Rank 0: butterflies over the samples, and their share to the other ranks.
  void distribute(std::span<const float> samples, const HalfDone& half_done = nullptr);
  // The other ranks: their share.
  void receive();
  // Every rank: the transform of its share.
  void transform_share(const HalfDone& half_done = nullptr);
  // Rank 0, when the blocks are gathered: the bins 0 to size / 2.
  std::span<const Complex> finish();

  // What a rank gives to the gather, and where rank 0 gets everything.
  const float* share() const { return reinterpret_cast<const float*>(points_.data()); }
  int share_floats() const { return static_cast<int>(2 * share_points_); }
  float* gathered() { return reinterpret_cast<float*>(gathered_.data()); }
  // On rank 0: until something is gathered its spectrum is no number.
  void forget_gathered() {
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    std::ranges::fill(gathered_, Complex(nothing, nothing));
  }

 private:
  using Clock = std::chrono::steady_clock;

  void decimate(std::span<Complex> points, int first, int ranks, const HalfDone& half_done);

  MPI_Comm comm_;
  int ranks_ = 1;
  int rank_ = 0;
  std::size_t share_points_;
  std::vector<Complex> points_;    // of the rank's share; on rank 0 of the whole window
  std::vector<Complex> gathered_;  // rank 0
  std::vector<Complex> spectrum_;  // rank 0
  std::vector<Complex> factors_;   // of the share; on rank 0 of the whole window
  LocalTransform first_, second_;  // of the two blocks of the share
  Clock::duration least_;          // of a share's transform
};

}  // namespace sibyl::fft
