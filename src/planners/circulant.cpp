// Distances by halving, and the blocks of a broadcast by a search over sums of distances.
#include "planners/circulant.hpp"

#include "planners/ceil_log2.hpp"

namespace sibyl {

Circulant::Circulant(Rank ranks)
    : ranks_(ranks), rounds_(ceil_log2(static_cast<std::uint64_t>(ranks))) {
  distance_[rounds_] = ranks;
  for (std::uint32_t k = rounds_; k > 0; --k) distance_[k - 1] = distance_[k] - distance_[k] / 2;
}

// The smallest distance of the sum of distances, largest first, that makes up the rank: the block
// that comes to it in the phase in which the root sends it. Rank 0 has none.
std::uint32_t Circulant::first_block(Rank rank) const {
  for (std::uint32_t k = rounds_; k > 0; --k) {
    if (distance_[k - 1] == rank) return k - 1;
    if (distance_[k - 1] < rank) rank -= distance_[k - 1];
  }
  return rounds_;
}

// Finds, round by round, a rank that has a block which `rank` does not get otherwise and from which
// it comes to the rank's neighbour of that round: sums of distances from the root of the phase
// before, below rank + p. The sums fall from round to round, and each ends with another distance.
class Circulant::Search {
 public:
  Search(const Circulant& graph, Rank rank, std::uint32_t own)
      : graph_(graph),
        target_(std::int64_t{rank} + graph.ranks_),
        below_(2 * std::int64_t{graph.ranks_}) {
    used_[own] = true;
  }

  // Tries the distances below `top` on top of `sum`.
  void extend(std::int64_t sum, std::uint32_t top) {
    for (std::uint32_t e = top; e-- > 0 && round_ < graph_.rounds_;) {
      const std::int64_t longer = sum + graph_.distance_[e];
      if (used_[e] || !reaches(longer)) continue;
      if (longer <= target_ - graph_.distance_[round_ + 1]) {
        extend(longer, e);
        if (round_ == graph_.rounds_) return;
      }
      if (!reaches(longer) || sum > target_ - graph_.distance_[round_ + 1]) continue;
      used_[e] = true;
      found[round_++] = e;
      below_ = longer;
    }
  }

  std::array<std::uint32_t, 32> found{};

 private:
  bool reaches(std::int64_t sum) const {
    return sum <= target_ - graph_.distance_[round_] && sum < below_;
  }

  const Circulant& graph_;
  std::int64_t target_;
  std::int64_t below_;
  std::uint32_t round_ = 0;
  std::array<bool, 33> used_{};
};

Circulant::Blocks Circulant::received(Rank rank) const {
  Blocks blocks{};
  if (rank == 0) return blocks;
  const std::uint32_t own = first_block(rank);
  Search search(*this, rank, own);
  search.extend(0, rounds_ + 1);
  const auto rounds = static_cast<std::int32_t>(rounds_);
  for (std::uint32_t k = 0; k < rounds_; ++k) {
    const auto e = static_cast<std::int32_t>(search.found[k]);
    blocks[k] = e == rounds ? static_cast<std::int32_t>(own) : e - rounds;
  }
  return blocks;
}

}  // namespace sibyl
