// Clairvoyant over a segment tree of bit columns.
//
// Idea: a column of bits says which segments a process holds. The OR of the columns of all free
// senders but the receiver, joined in a tree, and the receiver's own column have the segment in
// their lowest common bit; walking down from the root along that bit finds the first sender.
//
// The tree is built anew in each round anyway, so its leaves stand in the order in which a sender
// is looked for, the root of the reduce first where that is asked for: no pseudo-root, no second
// place for those whose turn wraps around (listing 6), and half the memory of the paper. Whoever
// has sent has an empty leaf; its column is kept apart, as a receiver's own.
//
// Cost of generation: O(rounds * P * N/SIMD * log P); at most 4 bits per process and segment: the
// columns, and a tree of less than 3 P nodes.
// Source: Improving Clairvoyant, sections 5.2 to 5.6, listings 3 to 8, with the repairs of
// docs/explanation/clairvoyant.md.
#include <algorithm>
#include <bit>
#include <vector>

#include "planners/clairvoyant/generators.hpp"
#include "planners/clairvoyant/kernels.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;
constexpr std::uint32_t nothing = 0xffffffff;

Word bit(std::uint32_t index) { return Word{1} << (index % 64); }

class SegmentTree {
 public:
  explicit SegmentTree(const ClairvoyantRequest& request)
      : words_((request.segments + 63) / 64),
        columns_(request.arrivals.size() * words_, ~Word{0}),
        eligible_(words_),
        leaf_(request.arrivals.size()),
        left_(request.arrivals.size(), request.segments) {
    tree_.words = words_;
    if (request.segments % 64 == 0) return;
    for (std::size_t last = words_ - 1; last < columns_.size(); last += words_) {
      columns_[last] = bit(request.segments) - 1;
    }
  }

  // Listing 8, lines 7 to 12.
  void begin_round(std::span<const Rank> search) {
    tree_.width = std::bit_ceil(search.size());
    tree_.nodes = tree_.width + search.size();
    if (bits_.size() < tree_.nodes * words_) bits_.resize(tree_.nodes * words_);
    tree_.bits = bits_.data();
    for (std::size_t leaf = 0; leaf < search.size(); ++leaf) {
      leaf_[index(search[leaf])] = static_cast<std::uint32_t>(leaf);
      std::copy_n(column(search[leaf]), words_, node(tree_.width + leaf));
    }
    kernels_.build(tree_);
    search_ = search;
  }

  // Listing 7. The sink comes first in its round, so it has received nothing yet.
  bool find(Rank receiver, bool is_sink, Rank& sender, std::uint32_t& segment) {
    const std::size_t leaf = leaf_[index(receiver)];
    kernels_.all_except(tree_, leaf, eligible_.data());
    segment = first_common(is_sink ? nullptr : column(receiver));
    if (segment == nothing) return false;
    std::size_t found = leftmost(1, segment);
    if (found == tree_.width + leaf) found = leftmost_after(found, segment);
    sender = search_[found - tree_.width];
    return true;
  }

  void send(Rank sender, Rank receiver, std::uint32_t segment) {
    const std::size_t from = leaf_[index(sender)];
    std::fill_n(node(tree_.width + from), words_, Word{0});
    kernels_.update(tree_, from);
    clear(column(sender), segment);
    --left_[index(sender)];

    if ((column(receiver)[segment / 64] & bit(segment)) == 0) ++left_[index(receiver)];
    clear(column(receiver), segment);
    std::size_t n = tree_.width + leaf_[index(receiver)];
    clear(node(n), segment);
    for (n /= 2; n > 0 && !has(2 * n, segment) && !has(2 * n + 1, segment); n /= 2) {
      clear(node(n), segment);
    }
  }

  // P' becomes P.
  void restore(Rank receiver, std::uint32_t segment) {
    column(receiver)[segment / 64] |= bit(segment);
  }
  bool has_sent_all(Rank rank) const { return left_[index(rank)] == 0; }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  static void clear(Word* words, std::uint32_t segment) { words[segment / 64] &= ~bit(segment); }
  Word* column(Rank rank) { return columns_.data() + index(rank) * words_; }
  Word* node(std::size_t n) { return bits_.data() + n * words_; }
  bool has(std::size_t n, std::uint32_t segment) {
    return n < tree_.nodes && (node(n)[segment / 64] & bit(segment)) != 0;
  }

  std::uint32_t first_common(const Word* own) const {
    for (std::size_t w = 0; w < words_; ++w) {
      const Word common = own == nullptr ? eligible_[w] : eligible_[w] & own[w];
      if (common != 0)
        return static_cast<std::uint32_t>(w * 64) +
               static_cast<std::uint32_t>(std::countr_zero(common));
    }
    return nothing;
  }
  // Listing 4, from a node that has the bit.
  std::size_t leftmost(std::size_t n, std::uint32_t segment) {
    while (n < tree_.width) n = has(2 * n, segment) ? 2 * n : 2 * n + 1;
    return n;
  }
  // Listing 5, where there is one.
  std::size_t leftmost_after(std::size_t n, std::uint32_t segment) {
    while (n % 2 == 1 || !has(n + 1, segment)) n /= 2;
    return leftmost(n + 1, segment);
  }

  const Kernels& kernels_ = kernels();
  std::size_t words_;
  std::vector<Word> columns_;  // of all ranks: A and P
  std::vector<Word> bits_;     // of the tree; as large as the largest group so far asks for
  std::vector<Word> eligible_;
  std::vector<std::uint32_t> leaf_;
  std::vector<std::uint32_t> left_;  // segments not sent, P' among them
  std::span<const Rank> search_;
  BitTree tree_;
};

}  // namespace

void generate_segment_tree(const ClairvoyantRequest& request, Collector& collector) {
  SegmentTree tree(request);
  Membership membership(request);
  std::vector<Rank> search;

  while (membership.begin_round()) {
    const Rank sink = membership.sink();
    search.assign(membership.group().begin(), membership.group().end());
    if (request.root_order == RootOrder::first && membership.root_is_here()) {
      const auto root = std::find(search.begin(), search.end(), request.root);
      std::rotate(search.begin(), root, root + 1);
    }
    tree.begin_round(search);

    ClairvoyantEvent* const events = collector.room(search.size());
    std::size_t count = 0;
    const auto consider = [&](Rank receiver) {
      ClairvoyantEvent& event = events[count];
      if (!tree.find(receiver, receiver == sink, event.sender, event.segment)) return;
      event.round = membership.round();
      event.receiver = receiver;
      tree.send(event.sender, receiver, event.segment);
      ++count;
    };
    consider(sink);
    for (const Rank receiver : membership.group()) {
      if (receiver != sink) consider(receiver);
    }

    for (std::size_t e = 0; e < count; ++e) tree.restore(events[e].receiver, events[e].segment);
    bool satisfied = false;
    membership.end_round([&](Rank rank) {
      const bool completed = rank != sink && tree.has_sent_all(rank);
      satisfied |= completed && collector.is_satisfied_by(rank);
      return completed;
    });
    collector.take(count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
