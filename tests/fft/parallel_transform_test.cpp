// The transform over ranks, by every way to gather, against its definition and against FFTW.
#include "fft/parallel_transform.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "fft/clock.hpp"
#include "fft/direct_sum.hpp"
#include "fft/gather_names.hpp"
#include "fft/gathers.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::fft {
namespace {

std::vector<std::string> all_gathers() {
  std::string names = gather_names() + ", SLS@0, BSLS@2", unknown;
  std::erase(names, ' ');
  return split_gathers(names, unknown);
}

// Rank 0's spectrum; empty on the others.
std::span<const Complex> run(ParallelTransform& transform, Gather& gather,
                             const std::vector<float>& samples) {
  int halves = 0;
  const auto half_done = [&] {
    ++halves;
    gather.half_done();
  };
  if (sibyl::test::rank_in() == 0) {
    gather.start();
    transform.distribute(samples, half_done);
    transform.transform_share();
  } else {
    transform.receive();
    gather.start();
    transform.transform_share(half_done);
  }
  EXPECT_EQ(halves, sibyl::test::size_of() > 1 ? 1 : 0);
  const double arrival = now();
  gather.run();
  if (gather.compares()) {
    std::vector<double> arrivals(static_cast<std::size_t>(sibyl::test::size_of()));
    MPI_Allgather(&arrival, 1, MPI_DOUBLE, arrivals.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    gather.compare(arrivals);
  }
  return sibyl::test::rank_in() == 0 ? transform.finish() : std::span<const Complex>{};
}

TEST(ParallelTransform, GivesTheSumsOfTheDefinition) {
  const auto ranks = static_cast<std::size_t>(sibyl::test::size_of());
  for (const std::size_t size : {4 * ranks, 64 * ranks}) {
    ParallelTransform transform(MPI_COMM_WORLD, size, 1);
    for (const std::string& name : all_gathers()) {
      const auto gather = make_gather(name, MPI_COMM_WORLD, transform.share(),
                                      transform.share_floats(), transform.gathered());
      for (unsigned iteration = 0; iteration < 5; ++iteration) {
        const std::vector<float> samples = test::random_samples(size, iteration);
        const std::span<const Complex> spectrum = run(transform, *gather, samples);
        if (spectrum.empty()) continue;
        const std::vector<std::complex<double>> direct = test::direct_sum(samples);
        ASSERT_EQ(spectrum.size(), direct.size());
        for (std::size_t k = 0; k < direct.size(); ++k) {
          EXPECT_LT(std::abs(std::complex<double>(spectrum[k]) - direct[k]),
                    1e-6 * static_cast<double>(size))
              << name << ", " << size << " samples, bin " << k;
        }
      }
    }
  }
}

TEST(ParallelTransform, TakesTheTimeOfASlowerComputerAndIsHalfDoneAfterHalfOfIt) {
  using Clock = std::chrono::steady_clock;
  constexpr auto least = std::chrono::milliseconds(20);
  ParallelTransform transform(MPI_COMM_WORLD, 4 * sibyl::test::size_of(), 1, 20e-3);
  const Clock::time_point begin = Clock::now();
  Clock::time_point half = begin;
  transform.transform_share([&] { half = Clock::now(); });
  EXPECT_GE(half, begin + least / 2);
  EXPECT_GE(Clock::now(), begin + least);
}

TEST(ParallelTransform, OfALargeWindowAgreesWithFftwByTwoThreads) {
  constexpr std::size_t size = 8192;
  ParallelTransform transform(MPI_COMM_WORLD, size, 2);
  for (const std::string& name : all_gathers()) {
    const auto gather = make_gather(name, MPI_COMM_WORLD, transform.share(),
                                    transform.share_floats(), transform.gathered());
    for (unsigned iteration = 0; iteration < 4; ++iteration) {
      const std::vector<float> samples = test::random_samples(size, iteration);
      const std::span<const Complex> spectrum = run(transform, *gather, samples);
      if (!spectrum.empty()) {
        EXPECT_LT(error_against_direct(samples, spectrum), error_limit(size)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::fft
