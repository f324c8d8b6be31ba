// Clairvoyant over two incremental bit matrices.
//
// Idea: one matrix says per segment who holds it (rows, for finding the sender), the other per
// process what it holds (columns, for finding the segment). Both change by single bits and are
// never rebuilt. A mask of the senders that are still free in the round stands between them, so
// that sending costs one bit instead of a column.
//
// Places. The bits of a row stand in the order of (f, rank), where f is the arrival modulo the
// round time. Availability moves by whole rounds, so the order of search is this order, begun at
// the head's place and going round: no bit ever moves. One exception: members exactly one round
// behind the head share its f; they stand last, by rank. Rounds with such members look for them in
// a second pass.
//
// Rows in which at most one process holds the segment at the begin of the round are of no use to
// anybody but the sink; rows that are found without a free holder are dropped until the round ends.
//
// Cost of generation: O(events * (N + P) / 64) in the worst case, a few words per event as a rule;
// 2 bits per process and segment.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "planners/clairvoyant/generators.hpp"
#include "planners/clairvoyant/kernels.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;

Word bit(std::size_t index) { return Word{1} << (index % 64); }
std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

class Fast {
 public:
  Fast(const ClairvoyantRequest& request, const Membership& membership)
      : request_(request),
        ranks_(request.arrivals.size()),
        row_words_(words_for(ranks_)),
        column_words_(words_for(request.segments)),
        words_(request.segments * row_words_ + ranks_ * column_words_ + 4 * row_words_ +
               4 * column_words_),
        place_(ranks_),
        rank_at_(ranks_),
        left_(ranks_, request.segments),
        holders_(request.segments) {
    std::iota(rank_at_.begin(), rank_at_.end(), 0);
    std::sort(rank_at_.begin(), rank_at_.end(), [&](Rank a, Rank b) {
      const double fa = membership.key(a).rest;
      const double fb = membership.key(b).rest;
      return fa != fb ? fa < fb : a < b;
    });
    for (std::size_t p = 0; p < ranks_; ++p)
      place_[index(rank_at_[p])] = static_cast<std::uint32_t>(p);

    Word* at = words_.data();
    const auto part = [&](std::size_t words) { return std::exchange(at, at + words); };
    state_.row_words = row_words_;
    state_.column_words = column_words_;
    state_.rows = part(request.segments * row_words_);
    state_.held = part(ranks_ * column_words_);
    state_.upper = part(row_words_);
    state_.lower = part(row_words_);
    state_.late = part(row_words_);
    members_ = part(row_words_);
    state_.candidates = part(column_words_);
    state_.scratch = part(column_words_);
    some_ = part(column_words_);
    more_ = part(column_words_);
    state_.some = some_;
    state_.more = more_;
    state_.place = place_.data();
    state_.rank_at = rank_at_.data();
    std::fill_n(state_.held, ranks_ * column_words_, ~Word{0});
    if (request.segments % 64 != 0) {
      for (std::size_t p = 0; p < ranks_; ++p) {
        state_.held[(p + 1) * column_words_ - 1] = bit(request.segments) - 1;
      }
    }
  }

  void join(std::span<const Rank> joined) {
    for (const Rank rank : joined) {
      const std::size_t place = place_[index(rank)];
      members_[place / 64] |= bit(place);
      for (std::size_t s = 0; s < request_.segments; ++s) {
        state_.rows[s * row_words_ + place / 64] |= bit(place);
        ++holders_[s];
      }
    }
    if (joined.empty()) return;
    std::fill_n(some_, column_words_, Word{0});
    std::fill_n(more_, column_words_, Word{0});
    for (std::size_t s = 0; s < request_.segments; ++s) count(s);
  }

  std::size_t round(const Membership& membership, ClairvoyantEvent* events) {
    const std::span<const Rank> group = membership.group();
    FastRound round;
    round.group = group;
    round.sink = membership.sink();
    round.round = membership.round();
    if (request_.root_order == RootOrder::first && membership.root_is_here()) {
      round.first = request_.root;
    }
    round.head = place_[index(group.front())];
    const std::size_t cut = round.head / 64;
    const Word below = bit(round.head) - 1;
    for (std::size_t w = 0; w < row_words_; ++w) {
      state_.upper[w] = w < cut ? 0 : members_[w];
      state_.lower[w] = w > cut ? 0 : members_[w];
    }
    state_.upper[cut] &= ~below;
    state_.lower[cut] &= below;
    std::copy_n(more_, column_words_, state_.candidates);

    const RoundTime last{membership.key(group.front()).whole + 1,
                         membership.key(group.front()).rest};
    round.has_late = membership.key(group.back()) == last;
    if (round.has_late) {
      std::fill_n(state_.late, row_words_, Word{0});
      for (std::size_t i = group.size(); membership.key(group[i - 1]) == last; --i) {
        const std::size_t place = place_[index(group[i - 1])];
        state_.late[place / 64] |= bit(place);
      }
    }
    return kernels_.fast_round(state_, round, events);
  }

  // What was received comes back. True when somebody has sent all.
  bool finish(std::span<const ClairvoyantEvent> events, Rank sink) {
    bool completed = false;
    for (const ClairvoyantEvent& event : events) {
      const std::size_t place = place_[index(event.receiver)];
      state_.rows[event.segment * row_words_ + place / 64] |= bit(place);
      state_.held[index(event.receiver) * column_words_ + event.segment / 64] |= bit(event.segment);
      --holders_[event.segment];
      completed |= --left_[index(event.sender)] == 0;
    }
    if (!events.empty() && events.front().receiver == sink && sink_gets_back_) {
      ++holders_[events.front().segment];
      ++left_[index(sink)];
    }
    for (const ClairvoyantEvent& event : events) count(event.segment);
    return completed;
  }

  // Before a round: whether the segment that the sink will receive is one that it had sent is seen
  // from its column, which the round clears.
  void remember(Rank sink) {
    sink_column_.assign(state_.held + index(sink) * column_words_,
                        state_.held + (index(sink) + 1) * column_words_);
  }
  void compare(std::span<const ClairvoyantEvent> events, Rank sink) {
    sink_gets_back_ =
        !events.empty() && events.front().receiver == sink &&
        (sink_column_[events.front().segment / 64] & bit(events.front().segment)) == 0;
  }

  bool leaves(Rank rank, Rank sink) {
    if (rank == sink || left_[index(rank)] != 0) return false;
    const std::size_t place = place_[index(rank)];
    members_[place / 64] &= ~bit(place);
    return true;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  void count(std::size_t s) {
    const Word mask = bit(s);
    some_[s / 64] = holders_[s] >= 1 ? some_[s / 64] | mask : some_[s / 64] & ~mask;
    more_[s / 64] = holders_[s] >= 2 ? more_[s / 64] | mask : more_[s / 64] & ~mask;
  }

  const Kernels& kernels_ = kernels();
  const ClairvoyantRequest& request_;
  std::size_t ranks_;
  std::size_t row_words_;
  std::size_t column_words_;
  std::vector<Word> words_;  // the storage of all bits
  std::vector<std::uint32_t> place_;
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> left_;     // per rank: segments not sent
  std::vector<std::uint32_t> holders_;  // per segment: members that hold it
  std::vector<Word> sink_column_;
  bool sink_gets_back_ = false;
  Word* members_ = nullptr;
  Word* some_ = nullptr;
  Word* more_ = nullptr;
  FastState state_;
};

}  // namespace

void generate_fast(const ClairvoyantRequest& request, Collector& collector) {
  Membership membership(request);
  Fast fast(request, membership);
  while (membership.begin_round()) {
    fast.join(membership.joined());
    const Rank sink = membership.sink();
    ClairvoyantEvent* const events = collector.room(membership.group().size());
    fast.remember(sink);
    const std::size_t count = fast.round(membership, events);
    fast.compare({events, count}, sink);
    bool satisfied = false;
    if (fast.finish({events, count}, sink)) {
      membership.end_round([&](Rank rank) {
        const bool completed = fast.leaves(rank, sink);
        satisfied |= completed && collector.is_satisfied_by(rank);
        return completed;
      });
    } else {
      membership.end_round();
    }
    collector.take(count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
