// Circulant graphs: rank r is linked to the ranks r + s and r - s, modulo p, for a few distances s,
// halved from p downwards and rounded up. Every number up to p is a sum of different ones of them,
// so that information goes from anywhere to anywhere in ceil(log2 p) rounds, one distance a round,
// whatever p is.
//
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024
// (arXiv 2410.14234); J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with
// Applications to Broadcast, All-Broadcast, Reduction and All-Reduction, 2024 (arXiv 2407.18004).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sibyl/schedule.hpp"

namespace sibyl {

class Circulant {
 public:
  explicit Circulant(Rank ranks);

  Rank ranks() const { return ranks_; }
  std::uint32_t rounds() const { return rounds_; }
  // distance(0) = 1, ..., distance(rounds()) = the number of ranks; each is half the next, rounded
  // up.
  Rank distance(std::uint32_t k) const { return distance_[k]; }
  Rank up(Rank rank, Rank by) const {
    return rank < ranks_ - by ? rank + by : rank - (ranks_ - by);
  }
  Rank down(Rank rank, Rank by) const { return rank >= by ? rank - by : rank + (ranks_ - by); }

  // A broadcast of many blocks from rank 0: in a phase of rounds() rounds rank r receives in round
  // k, from distance(k) below, the block whose number is [k], counted from the first block of the
  // phase: at most one number is not negative, others belong to the phase before. Meaningless for
  // rank 0, which has them all.
  using Blocks = std::array<std::int32_t, 32>;
  Blocks received(Rank rank) const;

 private:
  class Search;
  std::uint32_t first_block(Rank rank) const;

  Rank ranks_;
  std::uint32_t rounds_;
  std::array<Rank, 33> distance_{};
};

}  // namespace sibyl
