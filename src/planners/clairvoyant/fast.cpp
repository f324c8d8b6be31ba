// Clairvoyant over two incremental bit matrices and counts of free holders.
//
// Idea: one matrix says per segment who holds it (rows, for finding the sender), the other per
// process what it holds (columns, for finding the segment). Both change by single bits and are
// never rebuilt. Between them stand a mask of the senders that are free in the round, and per
// segment the number of free holders, as binary digits in bit planes: a sender's column is taken
// away from the counts of 64, 256 or 512 segments at once. The segments that a receiver can get are
// its column AND those with at least two free holders (at least one if it is not free itself), so
// the first common bit is right and no search ever fails.
//
// Places. The bits of a row stand in the order of (f, rank), where f is the arrival modulo the
// round time. Availability moves by whole rounds, so the order of search is this order, begun at
// the head's place and going round: no bit ever moves. One exception: members exactly one round
// behind the head share its f; they stand last, by rank. Rounds with such members look for them in
// a second pass.
//
// Cost of generation: per event log2 P operations on N bits and the words of one row up to the
// first free holder; 2 bits per process and segment. Source: the schedule is that of linear.cpp;
// how it is found here is Sibyl's own.
#include <algorithm>
#include <bit>
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

// Kernels may count with as many digits in registers whatever the number of ranks.
constexpr std::size_t most_planes = 10;

class Fast {
 public:
  Fast(const ClairvoyantRequest& request, const Membership& membership)
      : ranks_(request.arrivals.size()),
        row_words_(words_for(ranks_)),
        column_words_(words_for(request.segments)),
        planes_(std::max(most_planes, static_cast<std::size_t>(std::bit_width(ranks_)))),
        root_first_(request.root_order == RootOrder::first ? request.root : no_rank),
        words_(4 * row_words_ + (2 * planes_ + 2) * column_words_),
        matrices_(request.segments * row_words_ + ranks_ * column_words_, ~Word{0}),
        place_(ranks_),
        rank_at_(ranks_),
        left_(ranks_, request.segments) {
    std::iota(rank_at_.begin(), rank_at_.end(), 0);
    std::sort(rank_at_.begin(), rank_at_.end(), [&](Rank a, Rank b) {
      const double fa = membership.key(a).rest;
      const double fb = membership.key(b).rest;
      return fa != fb ? fa < fb : a < b;
    });
    for (std::size_t p = 0; p < ranks_; ++p) {
      place_[index(rank_at_[p])] = static_cast<std::uint32_t>(p);
    }

    Word* at = words_.data();
    const auto part = [&](std::size_t words) { return std::exchange(at, at + words); };
    state_.row_words = row_words_;
    state_.column_words = column_words_;
    state_.planes = planes_;
    state_.held = matrices_.data();
    state_.rows = state_.held + ranks_ * column_words_;
    state_.free = part(2 * row_words_);
    state_.late = part(row_words_);
    members_ = part(row_words_);
    state_.holders = part(planes_ * column_words_);
    state_.free_holders = part(planes_ * column_words_);
    state_.some = part(column_words_);
    state_.more = part(column_words_);
    state_.place = place_.data();
    state_.rank_at = rank_at_.data();
    state_.left = left_.data();
    if (request.segments % 64 == 0) return;
    for (std::size_t p = 1; p <= ranks_; ++p) {
      state_.held[p * column_words_ - 1] = bit(request.segments) - 1;
    }
  }

  FastResult round(const Membership& membership, ClairvoyantEvent* events) {
    for (const Rank rank : membership.joined()) {
      const std::size_t place = place_[index(rank)];
      members_[place / 64] |= bit(place);
      kernels_.fast_join(state_);
    }
    const std::span<const Rank> group = membership.group();
    FastRound round;
    round.group = group;
    round.sink = membership.sink();
    round.round = membership.round();
    if (membership.root_is_here()) round.first = root_first_;
    round.head = place_[index(group.front())];
    const std::size_t cut = round.head / 64;
    const Word below = bit(round.head) - 1;
    Word* const upper = state_.free;
    Word* const lower = upper + row_words_;
    for (std::size_t w = 0; w < row_words_; ++w) {
      upper[w] = w < cut ? 0 : members_[w];
      lower[w] = w > cut ? 0 : members_[w];
    }
    upper[cut] &= ~below;
    lower[cut] &= below;

    const RoundTime& head = membership.key(group.front());
    const RoundTime last{head.whole + 1, head.rest};
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

  // Whether a member has sent everything; it is no member any more then.
  bool leaves(Rank rank, Rank sink) {
    if (rank == sink || left_[index(rank)] != 0) return false;
    const std::size_t place = place_[index(rank)];
    members_[place / 64] &= ~bit(place);
    return true;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  const Kernels& kernels_ = kernels();
  std::size_t ranks_;
  std::size_t row_words_;
  std::size_t column_words_;
  std::size_t planes_;
  Rank root_first_;
  std::vector<Word> words_;     // the storage of masks and counts
  std::vector<Word> matrices_;  // rows and columns
  std::vector<std::uint32_t> place_;
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> left_;  // per rank: segments not sent
  Word* members_ = nullptr;
  FastState state_;
};

}  // namespace

void generate_fast(const ClairvoyantRequest& request, Collector& collector) {
  Membership membership(request);
  Fast fast(request, membership);
  while (membership.begin_round()) {
    const Rank sink = membership.sink();
    ClairvoyantEvent* const events = collector.room(membership.group().size());
    const FastResult result = fast.round(membership, events);
    bool satisfied = false;
    if (result.completed) {
      membership.end_round([&](Rank rank) {
        const bool completed = fast.leaves(rank, sink);
        satisfied |= completed && collector.is_satisfied_by(rank);
        return completed;
      });
    } else {
      membership.end_round();
    }
    collector.take(result.count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
