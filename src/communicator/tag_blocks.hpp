// Tags that persistent requests own, apart from those that calls take in turn.
//
// A request takes a run of blocks at its making, where all ranks agree on one that none of them has
// in use, and gives it back when it is freed, which ranks do at different times.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sibyl {

class TagBlocks {
 public:
  static constexpr int tags_each = 16;
  static constexpr int count = 512;
  static constexpr int tags = tags_each * count;
  using Map = std::array<std::uint64_t, count / 64>;  // a bit per block

  static int blocks_for(std::int64_t wanted_tags) {
    return static_cast<int>((wanted_tags + tags_each - 1) / tags_each);
  }
  // The first of the lowest `wanted` blocks in a row that `used` leaves free; -1 where there are
  // none.
  static int find(const Map& used, int wanted) {
    int free_in_a_row = 0;
    for (int block = 0; block < count; ++block) {
      free_in_a_row = has(used, block) ? 0 : free_in_a_row + 1;
      if (free_in_a_row == wanted) return block - wanted + 1;
    }
    return -1;
  }

  Map used() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
  }
  void take(int first, int wanted) { set(first, wanted, true); }
  void give_back(int first, int wanted) { set(first, wanted, false); }

 private:
  static std::size_t word(int block) { return static_cast<std::size_t>(block) / 64; }
  static std::uint64_t bit(int block) { return std::uint64_t{1} << (block % 64); }
  static bool has(const Map& map, int block) { return (map[word(block)] & bit(block)) != 0; }
  void set(int first, int wanted, bool on) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int block = first; block < first + wanted; ++block) {
      used_[word(block)] = on ? used_[word(block)] | bit(block) : used_[word(block)] & ~bit(block);
    }
  }

  mutable std::mutex mutex_;
  Map used_{};
};

}  // namespace sibyl
