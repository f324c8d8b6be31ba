// The rounds of an exchange; see exchange.hpp.
#include <algorithm>

#include "planners/clairvoyant/exchange_state.hpp"

namespace sibyl::clairvoyant {
namespace {

constexpr std::size_t sending = 0;
constexpr std::size_t receiving = 1;

// Up to so many ranks every free sender is looked at for a receiver; beyond, where there is more
// choice and less time, a few.
constexpr std::uint32_t few_ranks = 64;
static_assert(few_ranks <= 64);  // match_all() has a word's bit for each
constexpr std::uint32_t few_tries = 16;
// Of so many senders that have something, the one with the newest result is taken.
constexpr std::uint32_t compared = 2;
constexpr std::uint32_t most_failures = 1;
// How far a path is sought. Further brings 48 ranks a round in a hundred and takes twice as long.
constexpr std::uint32_t longest_search = 16;

template <class Act>
void for_each_bit(const std::uint64_t* row, std::size_t words, Act act) {
  for (std::size_t w = 0; w < words; ++w) {
    for (std::uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
      act(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
}

// The highest bit that is in a row and not in another; nowhere if none.
std::uint32_t last_beside(const std::uint64_t* row, const std::uint64_t* other, std::size_t words) {
  while (words-- > 0) {
    const std::uint64_t more = row[words] & ~other[words];
    if (more != 0)
      return static_cast<std::uint32_t>(words * 64 + 63) -
             static_cast<std::uint32_t>(std::countl_zero(more));
  }
  return nowhere;
}

// Sorts what is nearly in order since the last round.
template <class Before>
void settle(std::vector<std::uint32_t>& order, Before before) {
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::uint32_t one = order[i];
    std::size_t at = i;
    for (; at > 0 && before(one, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = one;
  }
}

}  // namespace

ClairvoyantEvents Exchange::run() {
  events_.room(left_);
  while (left_ > 0) {
    if (!step_one_round()) {
      // Nothing can move until somebody arrives.
      std::uint32_t next = last_;
      for (const std::uint32_t arrival : arrivals_) {
        if (arrival > round_) next = std::min(next, arrival);
      }
      round_ = std::max(next, round_ + 1);
      continue;
    }
    ++round_;
  }
  return std::move(events_);
}

bool Exchange::step_one_round() {
  const std::uint64_t before = left_;
  while (arrived_ < ranks_ && arrivals_[by_arrival_[arrived_]] <= round_) {
    present_.set(0, by_arrival_[arrived_++]);
  }
  std::copy_n(present_.row(0), present_.words(), free_.row(sending));
  std::copy_n(present_.row(0), present_.words(), free_.row(receiving));
  before_ = results_;
  if (source_ == no_rank) {
    if (!in_turn_ && round_ >= last_) {
      in_turn_ = true;
      choose_owners_among_holders();
      number_by_turn();
      note_owners();
    }
    sort_by_work();
    if (in_turn_) {
      // Who passes a result on has sent as much as with its own part, and soon has helpers.
      deliver_rare(1);
      merge_in_turn();
    } else {
      merge_in_rotation();
      merge_for_absent_owners();
    }
  }
  deliver_rare(std::max(2U, ranks_ / few_ranks));
  deliver_rest();
  std::erase_if(spreading_, [&](std::uint32_t result) { return holder_count_[result] == ranks_; });
  for (const std::uint32_t segment : finished_) finish(segment);
  finished_.clear();
  return left_ != before;
}

void Exchange::send(std::uint32_t from, std::uint32_t to, std::uint32_t segment) {
  free_.clear(sending, from);
  free_.clear(receiving, to);
  --left_;
  *events_.room(1) = {round_, static_cast<Rank>(from), static_cast<Rank>(to), segment};
  events_.extend(1);
}

void Exchange::merge(std::uint32_t from, std::uint32_t to, std::uint32_t segment) {
  holds_.clear(from, segment);
  --to_send_[from];
  const std::uint32_t owner = owner_[segment];
  const std::uint64_t* held = holds_.row(from);
  if (first_common(held, owned_.row(owner), holds_.words(), 0) == nowhere) {
    pending_.clear(from, owner);
  }
  send(from, to, number_[segment]);
  if (--partials_[segment] == 1) finished_.push_back(segment);
}

void Exchange::give(std::uint32_t rank, std::uint32_t result) {
  results_.set(rank, result);
  holders_.set(result, rank);
  ++holder_count_[result];
  ++result_count_[rank];
}

void Exchange::finish(std::uint32_t segment) {
  const auto result = static_cast<std::uint32_t>(segment_of_.size());
  segment_of_.push_back(number_[segment]);
  holder_count_.push_back(0);
  spreading_.push_back(result);
  give(owner_[segment], result);
}

// The newest result that one rank had at the beginning of the round and the other lacks.
std::uint32_t Exchange::newest(std::uint32_t from, std::uint32_t to) const {
  return last_beside(before_.row(from), results_.row(to), result_words());
}

void Exchange::sort_by_results() {
  settle(by_results_, [&](std::uint32_t a, std::uint32_t b) {
    return result_count_[a] != result_count_[b] ? result_count_[a] < result_count_[b] : a < b;
  });
}

void Exchange::sort_by_work() {
  settle(by_work_, [&](std::uint32_t a, std::uint32_t b) { return to_send_[a] > to_send_[b]; });
}

// Every rank goes round the owners, each beginning with the one after itself.
void Exchange::merge_in_rotation() {
  for (const std::uint32_t from : by_work_) {
    if (to_send_[from] == 0) break;
    if (!present_.has(0, from)) continue;
    const std::uint32_t owner =
        first_common(pending_.row(from), free_.row(receiving), pending_.words(),
                     static_cast<std::uint32_t>((std::uint64_t{from} + 1 + round_) % ranks_));
    if (owner == nowhere) continue;
    merge(from, owner, first_common(holds_.row(from), owned_.row(owner), holds_.words(), 0));
  }
}

// Every rank sends the first segment in order whose owner may still receive.
void Exchange::merge_in_turn() {
  const std::size_t words = holds_.words();
  open_.assign(words, ~std::uint64_t{0});
  const auto close = [&](std::uint32_t owner) {
    for (std::size_t w = 0; w < words; ++w) open_[w] &= ~owned_.row(owner)[w];
  };
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    if (!free_.has(receiving, r)) close(r);
  }
  for (const std::uint32_t from : by_work_) {
    if (to_send_[from] == 0) break;
    if (!free_.has(sending, from)) continue;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t bits = holds_.row(from)[w] & ~owned_.row(from)[w] & open_[w];
      if (bits == 0) continue;
      const std::uint32_t segment =
          static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
      merge(from, owner_[segment], segment);
      close(owner_[segment]);
      break;
    }
  }
}

// The ranks that came last send first, each to the one that came before it or an earlier one.
void Exchange::merge_for_absent_owners() {
  std::vector<std::uint64_t> movable(holds_.words(), 0);
  std::uint32_t there = 0;
  for (const std::uint32_t rank : by_arrival_) {
    if (present_.has(0, rank)) {
      ++there;
      continue;
    }
    for (std::size_t w = 0; w < movable.size(); ++w) movable[w] |= owned_.row(rank)[w];
  }
  if (std::ranges::all_of(movable, [](std::uint64_t word) { return word == 0; })) return;
  std::vector<std::uint64_t> both(movable.size());
  std::vector<std::uint32_t> received(ranks_, nowhere);
  for (std::uint32_t later = there; later-- > 1;) {
    const std::uint32_t from = by_arrival_[later];
    if (!free_.has(sending, from)) continue;
    const std::uint32_t least = ranks_ <= few_ranks || later < few_tries ? 0 : later - few_tries;
    for (std::uint32_t earlier = later; earlier-- > least;) {
      const std::uint32_t to = by_arrival_[earlier];
      if (!free_.has(receiving, to)) continue;
      for (std::size_t w = 0; w < both.size(); ++w) both[w] = movable[w] & holds_.row(from)[w];
      if (received[from] != nowhere) both[received[from] / 64] &= ~BitRows::one(received[from]);
      const std::uint32_t segment = first_common(both.data(), holds_.row(to), both.size(), 0);
      if (segment == nowhere) continue;
      merge(from, to, segment);
      received[to] = segment;
      break;
    }
  }
}

// Results that few ranks have, fewest first: every holder sends it on, to those first that have
// least to send and so can help to spread it.
void Exchange::deliver_rare(std::uint32_t rare) {
  order_.clear();
  for (const std::uint32_t result : spreading_) {
    if (holder_count_[result] <= rare) order_.push_back(result);
  }
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t r) { return holder_count_[r]; });
  const std::size_t words = present_.words();
  for (const std::uint32_t result : order_) {
    senders_.clear();
    for_each_bit(holders_.row(result), words, [&](std::uint32_t r) {
      if (free_.has(sending, r) && before_.has(r, result)) senders_.push_back(r);
    });
    if (senders_.empty()) continue;
    std::size_t next = 0;
    for (std::size_t i = ranks_; i-- > 0 && next < senders_.size();) {
      const std::uint32_t to = by_work_[i];
      if (!free_.has(receiving, to) || holders_.has(result, to)) continue;
      send(senders_[next++], to, segment_of_[result]);
      give(to, result);
    }
  }
}

void Exchange::deliver_rest() {
  if (spreading_.empty()) return;
  senders_.clear();
  for_each_bit(free_.row(sending), free_.words(), [&](std::uint32_t r) { senders_.push_back(r); });
  if (senders_.empty()) return;
  // Who has received least chooses first.
  sort_by_results();
  receivers_.clear();
  for (const std::uint32_t rank : by_results_) {
    if (free_.has(receiving, rank)) receivers_.push_back(rank);
  }
  if (ranks_ <= few_ranks) {
    match_all();
    return;
  }
  for (std::size_t i = 0; i < receivers_.size() && !senders_.empty(); ++i) {
    const std::uint32_t to = receivers_[i];
    const auto count = static_cast<std::uint32_t>(senders_.size());
    const std::uint32_t begin = first_sender(to, count);
    for (std::uint32_t k = 0; k < std::min(count, few_tries); ++k) {
      const std::uint32_t at = begin + k < count ? begin + k : begin + k - count;
      const std::uint32_t result = newest(senders_[at], to);
      if (result == nowhere) continue;
      send(senders_[at], to, segment_of_[result]);
      give(to, result);
      senders_[at] = senders_.back();
      senders_.pop_back();
      break;
    }
  }
}

// Where a receiver begins to look for a sender: not all at the same one, nor always at the same.
std::uint32_t Exchange::first_sender(std::uint32_t receiver, std::uint32_t count) const {
  return static_cast<std::uint32_t>((5 * std::uint64_t{round_} + 3 * std::uint64_t{receiver}) %
                                    count);
}

// Of few ranks as many pairs as there can be, by augmenting paths.
void Exchange::match_all() {
  matched_.assign(senders_.size(), nowhere);
  unmatched_ = ~std::uint64_t{0} >> (64 - senders_.size());
  failures_ = 0;
  for (const std::uint32_t receiver : receivers_) {
    visited_ = 0;
    searched_ = 0;
    if (!match(receiver)) ++failures_;
  }
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    if (matched_[i] == nowhere) continue;
    const std::uint32_t result = newest(senders_[i], matched_[i]);
    send(senders_[i], matched_[i], segment_of_[result]);
    give(matched_[i], result);
  }
}

bool Exchange::match(std::uint32_t receiver) {
  const std::uint32_t begin = first_sender(receiver, static_cast<std::uint32_t>(senders_.size()));
  std::uint32_t best = nowhere;
  std::uint32_t best_result = 0;
  std::uint32_t found = 0;
  const std::uint64_t upper = ~std::uint64_t{0} << begin;
  const std::uint64_t* has = results_.row(receiver);
  const std::size_t words = result_words();
  for (const std::uint64_t part : {upper, ~upper}) {
    for (std::uint64_t bits = unmatched_ & part; bits != 0 && found < compared; bits &= bits - 1) {
      const auto at = static_cast<std::uint32_t>(std::countr_zero(bits));
      const std::uint32_t result = last_beside(before_.row(senders_[at]), has, words);
      if (result == nowhere) continue;
      ++found;
      if (best != nowhere && result <= best_result) continue;
      best = at;
      best_result = result;
    }
  }
  if (best != nowhere) {
    matched_[best] = receiver;
    unmatched_ &= ~BitRows::one(best);
    return true;
  }
  // A search that fails has looked at everything, and the next ones mostly fail too.
  if (failures_ >= most_failures) return false;
  for (std::uint32_t at = 0; at < senders_.size(); ++at) {
    if (((visited_ | unmatched_) & BitRows::one(at)) != 0) continue;
    if (last_beside(before_.row(senders_[at]), has, words) == nowhere) continue;
    if (++searched_ > longest_search) return false;
    visited_ |= BitRows::one(at);
    if (!match(matched_[at])) continue;
    matched_[at] = receiver;
    return true;
  }
  return false;
}

}  // namespace sibyl::clairvoyant
