// The irregular problems; see block_counts.hpp.
#include "bench/block_counts.hpp"

#include <array>
#include <cstddef>
#include <numeric>
#include <random>

namespace sibyl::bench {
namespace {

constexpr std::array<std::string_view, 6> count_names{"same",       "random",      "spikes",
                                                      "decreasing", "alternating", "two-blocks"};
constexpr int spike_every = 5;  // rho of the paper

// Relative sizes of the blocks.
std::vector<double> weights(CountShape shape, double mean, int ranks, std::uint64_t seed) {
  std::vector<double> weight(static_cast<std::size_t>(ranks), mean);
  // The raw numbers of the generator are the same everywhere; a standard distribution's are not.
  std::mt19937_64 generator(seed);
  for (int i = 0; i < ranks; ++i) {
    double& own = weight[static_cast<std::size_t>(i)];
    switch (shape) {
      case CountShape::same:
        break;
      case CountShape::random:
        own = 1 + static_cast<double>(generator() >> 11) * 0x1p-53 * 2 * mean;
        break;
      case CountShape::spikes:
        own = i % spike_every == 0 ? spike_every * mean : 1;
        break;
      case CountShape::decreasing:
        own = 2 * mean * (ranks - i) / ranks + 1;
        break;
      case CountShape::alternating:
        own = i % 2 == 0 ? 1.5 * mean : 0.5 * mean;
        break;
      case CountShape::two_blocks:
        own = i == 0 || i == ranks - 1 ? mean * ranks / 2 : 0;
        break;
    }
  }
  return weight;
}

}  // namespace

bool shape_from_name(std::string_view name, CountShape& shape) {
  for (std::size_t i = 0; i < count_names.size(); ++i) {
    if (count_names[i] != name) continue;
    shape = static_cast<CountShape>(i);
    return true;
  }
  return false;
}

std::string_view name_of(CountShape shape) { return count_names[static_cast<std::size_t>(shape)]; }

std::vector<int> block_counts(CountShape shape, long long total, int ranks, std::uint64_t seed) {
  const double mean = static_cast<double>(total) / ranks;
  const std::vector<double> weight = weights(shape, mean, ranks, seed);
  const double whole = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::vector<int> counts(weight.size());
  // Rounded running sums: the blocks add up to the total exactly.
  double so_far = 0;
  long long given = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    so_far += weight[i];
    const long long until =
        i + 1 == weight.size()
            ? total
            : static_cast<long long>(so_far / whole * static_cast<double>(total) + 0.5);
    counts[i] = static_cast<int>(until - given);
    given = until;
  }
  return counts;
}

std::vector<int> problem_counts(CountShape shape, int block, int ranks, std::uint64_t seed) {
  std::vector<int> counts(static_cast<std::size_t>(ranks), block);
  std::mt19937_64 generator(seed);
  bool spiked = false;
  for (int i = 0; i < ranks; ++i) {
    int& own = counts[static_cast<std::size_t>(i)];
    switch (shape) {
      case CountShape::same:
        break;
      case CountShape::random:
        own = 1 + static_cast<int>((generator() >> 11) % (2 * static_cast<std::uint64_t>(block)));
        break;
      case CountShape::spikes: {
        const bool spike = (generator() >> 11) % spike_every == 0;
        spiked = spiked || spike;
        // The last resort of a small job, in which none was drawn.
        own = spike || (!spiked && i + 1 == ranks) ? spike_every * block : 1;
        break;
      }
      case CountShape::decreasing:
        own = static_cast<int>(2LL * block * (ranks - i) / ranks) + 1;
        break;
      case CountShape::alternating:
        own = i % 2 == 0 ? block + block / 2 : block - block / 2;
        break;
      case CountShape::two_blocks:
        own = i == 0 || i == ranks - 1 ? block : 0;
        break;
    }
  }
  return counts;
}

}  // namespace sibyl::bench
