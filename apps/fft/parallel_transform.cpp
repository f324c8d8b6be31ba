// The Fourier transform of a window over all ranks; see parallel_transform.hpp.
#include "fft/parallel_transform.hpp"

#include <thread>

namespace sibyl::fft {
namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

ParallelTransform::ParallelTransform(MPI_Comm comm, std::size_t size, int threads, double seconds)
    : comm_(comm),
      ranks_(size_of(comm)),
      rank_(rank_in(comm)),
      share_points_(size / 2 / static_cast<std::size_t>(ranks_)),
      points_(rank_ == 0 ? size / 2 : share_points_),
      gathered_(rank_ == 0 ? size / 2 : 0),
      spectrum_(rank_ == 0 ? size / 2 + 1 : 0),
      factors_(make_factors(rank_ == 0 ? size : share_points_)),
      first_(std::span(points_).first(share_points_ / 2), threads),
      second_(std::span(points_).subspan(share_points_ / 2, share_points_ / 2), threads),
      least_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

void ParallelTransform::distribute(std::span<const float> samples, const HalfDone& half_done) {
  for (std::size_t i = 0; i < points_.size(); ++i)
    points_[i] = {samples[2 * i], samples[2 * i + 1]};
  decimate(points_, 0, ranks_, half_done);
}

// Makes the shares of ranks `first` to `first + ranks - 1` of these points, and sends them off.
void ParallelTransform::decimate(std::span<Complex> points, int first, int ranks,
                                 const HalfDone& half_done) {
  if (ranks == 1) {
    if (first != 0) {
      MPI_Send(points.data(), share_floats(), MPI_FLOAT, first, 0, comm_);
    }
    return;
  }
  butterflies(points, factors_);
  decimate(points.subspan(points.size() / 2), first + ranks / 2, ranks / 2, nullptr);
  if (half_done) half_done();
  decimate(points.first(points.size() / 2), first, ranks / 2, nullptr);
}

void ParallelTransform::receive() {
  MPI_Recv(points_.data(), share_floats(), MPI_FLOAT, 0, 0, comm_, MPI_STATUS_IGNORE);
}

void ParallelTransform::transform_share(const HalfDone& half_done) {
  const Clock::time_point begin = Clock::now();
  butterflies(std::span(points_).first(share_points_), factors_);
  first_.run();
  std::this_thread::sleep_until(begin + least_ / 2);
  if (half_done) half_done();
  second_.run();
  std::this_thread::sleep_until(begin + least_);
}

std::span<const Complex> ParallelTransform::finish() {
  real_spectrum(gathered_, 2 * static_cast<std::size_t>(ranks_), factors_, spectrum_);
  return spectrum_;
}

}  // namespace sibyl::fft
