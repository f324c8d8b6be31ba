// Which segment a rank receives in which round of a broadcast of segments along a circulant graph.
//
// Source: J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
//   Broadcast, All-Broadcast, Reduction and All-Reduction, 2024 (arXiv 2407.18004), section 2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planners/circulant.hpp"

namespace sibyl {

// What a rank, counted from the root, receives in each round, or -1.
class Receipts {
 public:
  Receipts(const Circulant& graph, std::uint32_t segments, Rank rank)
      : phase_(graph.rounds()),
        last_(static_cast<std::int64_t>(segments) - 1),
        idle_(phase_ == 0 ? 0 : (phase_ - (segments - 1) % phase_) % phase_),
        blocks_(graph.received(rank)) {}

  // The first rounds of the first phase are left out so that the last phase is a whole one.
  std::uint32_t index_of(std::uint32_t round) const { return (round + idle_) % phase_; }
  std::int64_t segment_in(std::uint32_t round) const {
    const std::uint32_t at = round + idle_;
    const std::int64_t begin = static_cast<std::int64_t>(at / phase_) * phase_;
    const std::int64_t segment = blocks_[at % phase_] + begin - idle_;
    return segment < 0 ? -1 : std::min(segment, last_);
  }
  // Whether what comes in that round is new.
  bool is_new(std::uint32_t round) const {
    const std::int64_t segment = segment_in(round);
    if (segment < 0) return false;
    if (segment < last_) return true;
    for (std::uint32_t back = 1; back <= phase_ && back <= round; ++back) {
      if (segment_in(round - back) == last_) return false;
    }
    return true;
  }

 private:
  std::uint32_t phase_;
  std::int64_t last_;
  std::uint32_t idle_;
  Circulant::Blocks blocks_;
};

}  // namespace sibyl
