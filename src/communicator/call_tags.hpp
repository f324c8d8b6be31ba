// The tags of calls on one private communicator.
//
// A collective has the same tags at every call: MPI keeps the messages between two ranks in order,
// and both ends name the other, so those of one call cannot meet those of the next. A call that one
// rank alone makes, or refuses, then does what it does in the MPI libraries, whose tags are fixed
// too: it shifts that rank by one call, and leaves nobody waiting for a number that never comes.
//
// Trees of irregular blocks look for messages from any rank, and must not take one of a later call:
// their tags differ from call to call, and come around again.
//
// Where the tags of both begin is drawn anew for each communicator (begin_at): an MPI library may
// give it the context of one that was freed, where a message of a failed call still lies.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sibyl/schedule.hpp"

namespace sibyl {

class CallTags {
 public:
  // A vector may be cut into as many parts, and two ranks exchange a message for each; a program
  // that wants more goes native.
  static constexpr std::int64_t of_a_vector = 4096;
  // More than the tag_span of any algorithm that moves blocks, and than a tree uses.
  static constexpr std::int64_t of_blocks = 16;

  // Tags below this one may be used: at least 24 574, where MPI allows no more than it must.
  void limit(std::int64_t limit) { limit_ = limit; }
  std::int64_t end() const { return limit_; }

  // `number`: any, the same on all ranks. Half of the tags are for calls that take their own, as
  // far as there are that many.
  void begin_at(std::int64_t number) {
    const std::int64_t half = std::max(limit_ / 2, all_fixed);
    const std::int64_t places = std::max<std::int64_t>(half / all_fixed, 1);
    fixed_ = number % places * all_fixed;
    tree_first_ = half;
    tree_ = half + number / places % ((limit_ - half) / of_blocks) * of_blocks;
  }

  int of(Collective collective) const {
    return static_cast<int>(fixed_ + offsets[static_cast<std::size_t>(collective)]);
  }
  int next_of_tree() {
    if (tree_ + of_blocks > limit_) tree_ = tree_first_;
    const auto tag = static_cast<int>(tree_);
    tree_ += of_blocks;
    return tag;
  }
  // For tests of what happens at the end of the tags.
  void skip_to_last() { tree_ = limit_ - of_blocks; }

 private:
  // Where the tags of each collective begin, and where all end.
  static constexpr std::array<std::int64_t, served_collective_count + 1> offsets = [] {
    std::array<std::int64_t, served_collective_count + 1> sums{};
    for (std::size_t i = 0; i < served_collective_count; ++i) {
      sums[i + 1] = sums[i] + (combines(static_cast<Collective>(i)) ? of_a_vector : of_blocks);
    }
    return sums;
  }();
  static constexpr std::int64_t all_fixed = offsets.back();

  std::int64_t limit_ = 24574;
  std::int64_t fixed_ = 0;
  std::int64_t tree_first_ = all_fixed;
  std::int64_t tree_ = all_fixed;
};

}  // namespace sibyl
