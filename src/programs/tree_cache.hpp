// What irregular gather and scatter keep per root: a gather's tree, built at some calls and used by
// those in between, and whether the root has said that the linear algorithm serves its calls.
//
// A leaf whose block has changed cannot tell ranks that have already sent, so no call can find out
// that a tree is out of date. It need not: a tree serves any sizes, only not as fast. It is built
// anew at calls that all ranks can count: with construct_every = n at every n-th call with its
// root, and before that at calls 2, 4, 8 and so on. Until then it is the tree of equal blocks,
// which takes no messages.
//
// Only the root knows all sizes. Where few blocks hold anything, the linear algorithm saves the
// tree's start-ups; the root says so to all ranks, at calls that all can count, and this holds
// until it says otherwise. Either way serves any sizes.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>

#include "planners/ordered_tree.hpp"

namespace sibyl {

class TreeCache {
 public:
  struct Entry {
    Rank root = no_rank;
    std::uint64_t calls = 0;  // with this root, this one included
    OrderedNode node;         // of this rank in a gather's tree
    bool linear = false;      // what the root has said
  };

  // Counts a call. All ranks ask in the same order, so that they forget the same roots.
  Entry& enter(Rank root) {
    Entry& entry = find(root);
    entry.root = root;
    ++entry.calls;
    return entry;
  }

  // That of the last call, for tests of what ran; nullptr before the first.
  const Entry* last() const { return last_ < entries_.size() ? &entries_[last_] : nullptr; }

  static bool constructs(std::uint64_t call, std::uint32_t construct_every) {
    if (construct_every == 0) return false;
    return call % construct_every == 0 ||
           (call < construct_every && call >= 2 && std::has_single_bit(call));
  }
  // The call after a construction: neither pays for both.
  static bool root_says(std::uint64_t call, std::uint32_t construct_every) {
    return call > 1 && constructs(call - 1, construct_every);
  }

 private:
  // A program that changes its root at every call would fill any cache; the oldest entry goes.
  static constexpr std::size_t capacity = 64;

  Entry& find(Rank root) {
    if (last_ < entries_.size() && entries_[last_].root == root) return entries_[last_];
    for (last_ = 0; last_ < entries_.size(); ++last_) {
      if (entries_[last_].root == root) return entries_[last_];
    }
    if (entries_.size() < capacity) return entries_.emplace_back();
    last_ = oldest_;
    oldest_ = (oldest_ + 1) % capacity;
    entries_[last_] = {};
    return entries_[last_];
  }

  std::deque<Entry> entries_;
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
};

}  // namespace sibyl
