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
// Epochs. Only members and those who join soon need a place. Rows are as short as that allows: when
// somebody without a place joins, places are given out anew to the members and to as many of the
// next ones, and the rows are written again from the columns, which costs less than a bit per
// event. Rows and columns of more than 64 bits have at least 512, for which the kernels are made.
//
// Cost of generation: per event log2 P operations on N bits and the words of one row up to the
// first free holder; 2 bits per process and segment. Source: the schedule is that of linear.cpp;
// how it is found here is Sibyl's own.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "planners/clairvoyant/generators.hpp"
#include "planners/clairvoyant/kernels.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;

Word bit(std::size_t index) { return Word{1} << (index % 64); }
std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

// Digits that the kernels rely on: in any case, and for columns of 512 bits, whose counts they may
// keep in registers.
constexpr std::size_t least_planes = 4;
constexpr std::size_t wide_planes = 10;

// Rows and columns are one word or at least this many.
constexpr std::size_t wide = 8;
constexpr std::uint32_t nowhere = 0xffffffff;

std::size_t padded_words(std::size_t bits) {
  const std::size_t words = words_for(bits);
  return words == 1 ? 1 : std::max(words, wide);
}

class Fast {
 public:
  explicit Fast(const ClairvoyantRequest& request)
      : ranks_(request.arrivals.size()),
        segments_(request.segments),
        column_words_(padded_words(segments_)),
        planes_(std::max(column_words_ == wide ? wide_planes : least_planes,
                         static_cast<std::size_t>(std::bit_width(ranks_)))),
        root_first_(request.root_order == RootOrder::first ? request.root : no_rank),
        counts_((2 * planes_ + 2) * column_words_),
        columns_(ranks_ * column_words_, ~Word{0}),
        place_(ranks_, nowhere),
        left_(ranks_, request.segments) {
    Word* at = counts_.data();
    const auto part = [&](std::size_t words) { return std::exchange(at, at + words); };
    state_.column_words = column_words_;
    state_.planes = planes_;
    state_.held = columns_.data();
    state_.holders = part(planes_ * column_words_);
    state_.free_holders = part(planes_ * column_words_);
    state_.some = part(column_words_);
    state_.more = part(column_words_);
    state_.place = place_.data();
    state_.left = left_.data();
    const std::size_t whole = segments_ / 64;
    if (whole == column_words_) return;
    for (std::size_t r = 0; r < ranks_; ++r) {
      Word* const column = column_of(static_cast<Rank>(r));
      column[whole] = bit(segments_) - 1;
      std::fill(column + whole + 1, column + column_words_, Word{0});
    }
  }

  FastResult round(const Membership& membership, ClairvoyantEvent* events) {
    bool have_places = true;
    for (const Rank rank : membership.joined()) {
      kernels_.fast_join(state_);
      have_places = have_places && place_[index(rank)] != nowhere;
    }
    if (!have_places) {
      begin_epoch(membership);
    } else {
      for (const Rank rank : membership.joined()) {
        members_[place_[index(rank)] / 64] |= bit(place_[index(rank)]);
      }
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
  Word* column_of(Rank rank) { return columns_.data() + index(rank) * column_words_; }

  void begin_epoch(const Membership& membership) {
    const std::span<const Rank> group = membership.group();
    const std::size_t newcomers =
        std::max(group.size(), 64 * wide - std::min(group.size(), 64 * wide));
    const std::span<const Rank> upcoming = membership.upcoming(newcomers);
    rank_at_.assign(group.begin(), group.end());
    rank_at_.insert(rank_at_.end(), upcoming.begin(), upcoming.end());
    std::sort(rank_at_.begin(), rank_at_.end(), [&](Rank a, Rank b) {
      const double fa = membership.key(a).rest;
      const double fb = membership.key(b).rest;
      return fa != fb ? fa < fb : a < b;
    });
    for (std::size_t p = 0; p < rank_at_.size(); ++p) {
      place_[index(rank_at_[p])] = static_cast<std::uint32_t>(p);
    }

    row_words_ = padded_words(rank_at_.size());
    masks_.assign(4 * row_words_, 0);
    state_.row_words = row_words_;
    state_.rank_at = rank_at_.data();
    state_.free = masks_.data();
    state_.late = state_.free + 2 * row_words_;
    members_ = state_.late + row_words_;
    rows_.assign(segments_ * row_words_, ~Word{0});
    state_.rows = rows_.data();
    for (const Rank rank : group) {
      const std::size_t place = place_[index(rank)];
      members_[place / 64] |= bit(place);
      const Word* const column = column_of(rank);
      for (std::size_t w = 0; 64 * w < segments_; ++w) {
        const Word inside = segments_ < 64 * (w + 1) ? bit(segments_) - 1 : ~Word{0};
        for (Word sent = ~column[w] & inside; sent != 0; sent &= sent - 1) {
          const std::size_t segment = 64 * w + static_cast<std::size_t>(std::countr_zero(sent));
          rows_[segment * row_words_ + place / 64] &= ~bit(place);
        }
      }
    }
  }

  const Kernels& kernels_ = kernels();
  std::size_t ranks_;
  std::size_t segments_;
  std::size_t column_words_;
  std::size_t row_words_ = 0;
  std::size_t planes_;
  Rank root_first_;
  std::vector<Word> counts_;
  std::vector<Word> columns_;
  std::vector<Word> rows_;
  std::vector<Word> masks_;  // of places
  std::vector<std::uint32_t> place_;
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> left_;  // per rank: segments not sent
  Word* members_ = nullptr;
  FastState state_;
};

}  // namespace

void generate_fast(const ClairvoyantRequest& request, Collector& collector) {
  // Searching so few cells takes less than laying out matrices.
  if (request.arrivals.size() * request.segments <= 32) return generate_linear(request, collector);
  Membership membership(request);
  Fast fast(request);
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
