// Clairvoyant over two incremental bit matrices and counts of free holders.
//
// Idea: one matrix says per segment who holds it (rows, for finding the sender), the other per
// process what it holds (columns, for finding the segment). Both change by single bits and are
// never rebuilt. A receiver takes the first bit of its column that more than one member holds, and
// the first free sender in that segment's row. Where many are there from the begin (skewed
// arrivals), that nearly always succeeds and a handful of segments is under way: then the rows
// alone say, for all members at once, what each will receive (fast_flat.inc).
//
// Counts. Else (fast_counted.inc) the free holders of each segment are counted, as binary digits in
// bit planes: the columns of all members are added in a few operations each, and from then on every
// sender's column is taken away, 64, 256 or 512 segments at once. The segments that a receiver can
// get are its column AND those with at least two free holders (at least one if it is not free
// itself), so the first common bit is right and no search fails.
//
// Places. The bits of a row stand in the order of (f, rank), where f is the arrival modulo the
// round time. Availability moves by whole rounds, so the order of search is this order, begun at
// the head's place and going round: no bit ever moves. One exception: members exactly one round
// behind the head share its f; they stand last, by rank. So free senders are a ring of two rows,
// places from the head's on and places before it, and a third row for those.
//
// Epochs. Only members and those who join soon need a place and a column. Rows are as short as that
// allows: when somebody without a place joins, places are given out anew to the members and to as
// many of the next ones, columns move there, and the rows are written again from the columns, which
// costs less than a bit per event. Rows and columns are one word or a multiple of 512 bits, for
// which the kernels are made.
//
// Cost of generation: per event the words of a column up to the segment and those of a row up to
// the sender and, where counted, some thirty operations on N bits; 2 bits per process and segment.
// Rounds with few members or segments go to fast_small.cpp.
// Source: the schedule is that of linear.cpp; how it is found here is Sibyl's own.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "planners/clairvoyant/generators.hpp"
#include "planners/clairvoyant/kernels.hpp"

namespace sibyl::clairvoyant {
namespace {

using Word = std::uint64_t;

Word bit(std::size_t index) { return Word{1} << (index % 64); }
std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

// Words of one vector; rows and columns are one word or a multiple.
constexpr std::size_t wide = 8;
constexpr std::uint32_t no_place = 0xffffffff;

std::size_t padded_words(std::size_t bits) {
  const std::size_t words = words_for(bits);
  return words == 1 ? 1 : (words + wide - 1) / wide * wide;
}

}  // namespace

// Words at an address that is a multiple of the vector's size. LargeRounds has a name that others
// see, so its parts have too.
class AlignedWords {
 public:
  void assign(std::size_t words, Word value) {
    blocks_.assign((words + wide - 1) / wide, Block{});
    std::fill_n(data(), words, value);
  }
  Word* data() { return blocks_.data()->words; }

 private:
  struct alignas(8 * wide) Block {
    Word words[wide];
  };
  std::vector<Block> blocks_;
};

class LargeRounds final : public RoundMaker {
 public:
  explicit LargeRounds(const ClairvoyantRequest& request)
      : segments_(request.segments),
        column_words_(padded_words(segments_)),
        root_(request.root),
        root_first_(request.root_order == RootOrder::first),
        place_of_(request.arrivals.size(), no_place) {
    state_.high_digits = static_cast<std::size_t>(std::bit_width(place_of_.size()));
    by_segment_.assign((2 + FastState::count_words + state_.high_digits) * column_words_, 0);
    Word* at = by_segment_.data();
    const auto part = [&](std::size_t rows) {
      return std::exchange(at, at + rows * column_words_);
    };
    state_.column_words = column_words_;
    state_.all = part(1);
    state_.shared = part(1);
    state_.counts = part(FastState::count_words);
    state_.high = part(state_.high_digits);
    for (std::size_t s = 0; s < segments_; ++s) state_.all[s / 64] |= bit(s);
  }

  // With half as many as it takes: the way there and back costs more than some rounds.
  bool suits(std::size_t members) const override { return !is_small(2 * members, segments_); }

  // Those who are there already; nobody else has a place.
  void take_over(std::span<const SmallMember> members) {
    for (const Rank rank : rank_at_) place_of_[index(rank)] = no_place;
    columns_.assign((members.size() + 1) * column_words_, 0);
    left_.clear();
    for (const SmallMember& member : members) {
      place_of_[index(member.rank)] = static_cast<std::uint32_t>(left_.size());
      columns_.data()[left_.size()] = member.held;
      left_.push_back(static_cast<std::uint32_t>(std::popcount(member.held)));
    }
    state_.columns = columns_.data();
  }
  void hand_over(std::span<const Rank> group, std::vector<SmallMember>& members) const override {
    members.clear();
    for (const Rank rank : group) {
      const std::uint32_t p = place(rank);
      if (p == no_place || (present_[p / 64] & bit(p)) == 0) continue;
      members.push_back({rank, state_.columns[p]});
    }
  }

  bool round(Membership& membership, Collector& collector) override {
    const Rank sink = membership.sink();
    const FastResult result = find_events(membership, collector.room(membership.group().size()));
    bool satisfied = false;
    if (result.completed) {
      membership.end_round([&](Rank rank) {
        const bool completed = leaves(rank, sink);
        satisfied |= completed && collector.is_satisfied_by(rank);
        return completed;
      });
    } else {
      membership.end_round();
    }
    collector.take(result.count);
    return !satisfied;
  }

 private:
  FastResult find_events(const Membership& membership, ClairvoyantEvent* events) {
    if (!membership.joined().empty()) join(membership);
    const std::span<const Rank> group = membership.group();
    if (group_changed_) put_in_order(group);
    FastRound round;
    round.order = std::span(order_).first(group.size());
    round.sink = place(membership.sink());
    round.round = membership.round();
    if (root_first_ && membership.root_is_here()) round.first = place(root_);
    round.head = order_.front();
    const std::size_t cut = round.head / 64;
    const Word below = bit(round.head) - 1;
    Word* const upper = state_.free;
    Word* const lower = upper + row_words_;
    for (std::size_t w = 0; w < row_words_; ++w) {
      upper[w] = w < cut ? 0 : present_[w];
      lower[w] = w > cut ? 0 : present_[w];
    }
    upper[cut] &= ~below;
    lower[cut] &= below;
    state_.free_words = 2 * row_words_;

    const RoundTime& head = membership.key(group.front());
    const RoundTime last{head.whole + 1, head.rest};
    round.has_late = membership.key(group.back()) == last;
    if (round.has_late) {
      state_.free_words = 3 * row_words_;
      Word* const late = lower + row_words_;
      std::fill_n(late, row_words_, Word{0});
      for (std::size_t i = group.size(); membership.key(group[i - 1]) == last; --i) {
        const std::size_t p = order_[i - 1];
        upper[p / 64] &= ~bit(p);
        lower[p / 64] &= ~bit(p);
        late[p / 64] |= bit(p);
      }
    }
    return kernels_.fast_round(state_, round, events);
  }

  // Whether a member has sent everything; it is no member any more then.
  bool leaves(Rank rank, Rank sink) {
    const std::uint32_t p = place(rank);
    if (rank == sink || left_[p] != 0) return false;
    present_[p / 64] &= ~bit(p);
    group_changed_ = true;
    return true;
  }

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  std::uint32_t place(Rank rank) const { return place_of_[index(rank)]; }

  // Who joins holds everything.
  void join(const Membership& membership) {
    const std::span<const Rank> joined = membership.joined();
    if (membership.group().size() > 1) {
      std::copy_n(state_.all, column_words_, state_.shared);
      state_.knows_shared = true;
      state_.shared_begin = 0;
    }
    group_changed_ = true;
    for (const Rank rank : joined) {
      if (place(rank) == no_place) return begin_epoch(membership);
    }
    for (const Rank rank : joined) present_[place(rank) / 64] |= bit(place(rank));
  }

  void put_in_order(std::span<const Rank> group) {
    order_.clear();
    for (const Rank rank : group) order_.push_back(place(rank));
    order_.resize((group.size() + 16) / 16 * 16, static_cast<std::uint32_t>(rank_at_.size()));
    group_changed_ = false;
  }

  void begin_epoch(const Membership& membership) {
    const std::span<const Rank> group = membership.group();
    // As many as there are, and so many that rows have 512 bits; with few segments the group is
    // soon small.
    const std::size_t newcomers = std::max(
        group.size(), std::min(64 * wide - std::min(group.size(), 64 * wide), 8 * segments_));
    const std::span<const Rank> upcoming = membership.upcoming(newcomers);
    rank_at_.assign(group.begin(), group.end());
    rank_at_.insert(rank_at_.end(), upcoming.begin(), upcoming.end());
    std::sort(rank_at_.begin(), rank_at_.end(), [&](Rank a, Rank b) {
      const double fa = membership.key(a).rest;
      const double fb = membership.key(b).rest;
      return fa != fb ? fa < fb : a < b;
    });
    rows_ = AlignedWords();  // written again from the columns
    move_columns();

    row_words_ = padded_words(rank_at_.size());
    by_place_.assign((10 + 2 * FastState::slots) * row_words_, 0);
    slot_of_.assign(2 * 8 * row_words_, 0);
    Word* at = by_place_.data();
    const auto part = [&](std::size_t rows) { return std::exchange(at, at + rows * row_words_); };
    state_.row_words = row_words_;
    state_.rank_at = rank_at_.data();
    state_.free = part(3);
    state_.ring = part(3);
    state_.lacking = part(2);
    state_.no_row = part(1);
    state_.firsts = part(FastState::slots);
    state_.seconds = part(FastState::slots);
    present_ = part(1);
    state_.present = present_;
    state_.first_slot = reinterpret_cast<std::uint8_t*>(slot_of_.data());
    state_.second_slot = state_.first_slot + 64 * row_words_;
    rows_.assign(segments_ * row_words_, ~Word{0});
    state_.rows = rows_.data();
    for (const Rank rank : group) {
      const std::size_t p = place(rank);
      present_[p / 64] |= bit(p);
      const Word* const column = state_.columns + p * column_words_;
      for (std::size_t w = 0; 64 * w < segments_; ++w) {
        for (Word sent = ~column[w] & state_.all[w]; sent != 0; sent &= sent - 1) {
          const std::size_t segment = 64 * w + static_cast<std::size_t>(std::countr_zero(sent));
          state_.rows[segment * row_words_ + p / 64] &= ~bit(p);
        }
      }
    }
  }

  // Columns and what is left go where rank_at_ says; an empty column follows the last.
  void move_columns() {
    AlignedWords columns;
    columns.assign((rank_at_.size() + 1) * column_words_, 0);
    std::vector<std::uint32_t> left(rank_at_.size(), static_cast<std::uint32_t>(segments_));
    for (std::size_t p = 0; p < rank_at_.size(); ++p) {
      std::uint32_t& from = place_of_[index(rank_at_[p])];
      const bool is_new = from == no_place;
      std::copy_n(is_new ? state_.all : state_.columns + from * column_words_, column_words_,
                  columns.data() + p * column_words_);
      if (!is_new) left[p] = left_[from];
      from = static_cast<std::uint32_t>(p);
    }
    columns_ = std::move(columns);
    left_ = std::move(left);
    sent_.assign(rank_at_.size(), 0);
    state_.columns = columns_.data();
    state_.left = left_.data();
    state_.sent = sent_.data();
  }

  const Kernels& kernels_ = kernels();
  std::size_t segments_;
  std::size_t column_words_;
  std::size_t row_words_ = 0;
  Rank root_;
  bool root_first_;
  std::vector<std::uint32_t> place_of_;  // all ranks
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> order_;
  bool group_changed_ = true;
  std::vector<std::uint32_t> left_;
  std::vector<Word> sent_;
  AlignedWords by_segment_;
  AlignedWords columns_;
  AlignedWords rows_;
  AlignedWords by_place_;
  AlignedWords slot_of_;
  Word* present_ = nullptr;  // places of members
  FastState state_;
};

Rounds::Rounds(const ClairvoyantRequest& request) : request_(request), membership_(request) {}

Rounds::~Rounds() = default;

bool Rounds::next(Collector& collector) {
  if (!membership_.begin_round()) return false;
  const std::span<const Rank> group = membership_.group();
  if (maker_ == nullptr || !maker_->suits(group.size())) change_maker(group);
  return maker_->round(membership_, collector);
}

void Rounds::change_maker(std::span<const Rank> group) {
  if (maker_ != nullptr) maker_->hand_over(group, members_);
  small_ = make_small(request_, group.size(), members_);
  maker_ = small_.get();
  if (maker_ != nullptr) return;
  if (large_ == nullptr) large_ = std::make_unique<LargeRounds>(request_);
  large_->take_over(members_);
  maker_ = large_.get();
}

void generate_fast(const ClairvoyantRequest& request, Collector& collector) {
  Rounds rounds(request);
  while (rounds.next(collector)) {
  }
}

}  // namespace sibyl::clairvoyant
