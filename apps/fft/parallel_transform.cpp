// The Fourier transform of a window over all ranks; see parallel_transform.hpp.
#include "fft/parallel_transform.hpp"

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

ParallelTransform::ParallelTransform(MPI_Comm comm, std::size_t size, int threads)
    : comm_(comm),
      ranks_(size_of(comm)),
      rank_(rank_in(comm)),
      block_points_(size / 2 / static_cast<std::size_t>(ranks_)),
      points_(rank_ == 0 ? size / 2 : block_points_),
      gathered_(rank_ == 0 ? size / 2 : 0),
      spectrum_(rank_ == 0 ? size / 2 + 1 : 0),
      factors_(rank_ == 0 ? make_factors(size) : std::vector<Complex>{}),
      local_(std::span(points_).first(block_points_), threads) {}

void ParallelTransform::distribute(std::span<const float> samples) {
  for (std::size_t i = 0; i < points_.size(); ++i)
    points_[i] = {samples[2 * i], samples[2 * i + 1]};
  decimate(points_, 0, ranks_);
}

// Makes the blocks of ranks `first` to `first + ranks - 1` of these points, and sends them off.
void ParallelTransform::decimate(std::span<Complex> points, int first, int ranks) {
  if (ranks == 1) {
    if (first != 0) {
      MPI_Send(points.data(), block_floats(), MPI_FLOAT, first, 0, comm_);
    }
    return;
  }
  butterflies(points, factors_);
  decimate(points.subspan(points.size() / 2), first + ranks / 2, ranks / 2);
  decimate(points.first(points.size() / 2), first, ranks / 2);
}

void ParallelTransform::receive() {
  MPI_Recv(points_.data(), block_floats(), MPI_FLOAT, 0, 0, comm_, MPI_STATUS_IGNORE);
}

std::span<const Complex> ParallelTransform::finish() {
  real_spectrum(gathered_, static_cast<std::size_t>(ranks_), factors_, spectrum_);
  return spectrum_;
}

}  // namespace sibyl::fft
