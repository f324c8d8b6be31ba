// The trees of irregular gather, one per root: built at some calls, used by those in between.
//
// A leaf whose block has changed cannot tell ranks that have already sent, so no call can find out
// that a tree is out of date. It need not: a tree serves any sizes, only not as fast. It is built
// anew at calls that all ranks can count: with construct_every = n at every n-th call with its
// root, and before that at calls 2, 4, 8 and so on. Until then it is the tree of equal blocks,
// which takes no messages.
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
    OrderedNode node;         // of this rank
  };

  // Counts a call. All ranks ask in the same order, so that they forget the same trees.
  Entry& enter(Rank rank, Rank ranks, Rank root, Rank ranks_per_node) {
    Entry& entry = find(root);
    if (entry.calls++ == 0) {
      entry.root = root;
      entry.node = ordered_node_of_equal_blocks(rank, ranks, root, ranks_per_node);
    }
    return entry;
  }

  static bool constructs(std::uint64_t call, std::uint32_t construct_every) {
    if (construct_every == 0) return false;
    return call % construct_every == 0 ||
           (call < construct_every && call >= 2 && std::has_single_bit(call));
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
