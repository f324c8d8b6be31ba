// At which rank the sum of each segment comes together, and in which order; see exchange.hpp.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "planners/clairvoyant/exchange_state.hpp"

namespace sibyl::clairvoyant {
namespace {

// Changes of owners, in times the number of ranks: what is tried at most.
constexpr std::uint32_t most_changes = 4;

}  // namespace

// Were all operands sent to owners, a rank would receive ranks - 2 more messages for each segment
// that it owns than for one that it does not: as many as the time allows that it has more than the
// last one. Owned segments have consecutive numbers.
void Exchange::choose_first_owners() {
  struct Room {
    std::int64_t left;
    std::uint32_t rank;
  };
  const auto less = [](const Room& a, const Room& b) {
    return a.left != b.left ? a.left < b.left : a.rank > b.rank;
  };
  std::vector<Room> room;
  room.reserve(ranks_);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    room.push_back({std::min<std::int64_t>(segments_, last_ - arrivals_[r]), r});
  }
  std::ranges::make_heap(room, less);
  std::vector<std::uint32_t> count(ranks_, 0);
  for (std::uint32_t s = 0; s < segments_; ++s) {
    std::ranges::pop_heap(room, less);
    ++count[room.back().rank];
    room.back().left -= std::max<std::int64_t>(1, std::int64_t{ranks_} - 2);
    std::ranges::push_heap(room, less);
  }
  std::uint32_t next = 0;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t i = 0; i < count[r]; ++i) owner_[next++] = r;
  }
}

// The segments with most partials first, each to the holder that has least to merge.
void Exchange::choose_owners_among_holders() {
  order_.resize(segments_);
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, std::greater<>{}, [&](std::uint32_t s) { return partials_[s]; });
  std::vector<std::int64_t> work(ranks_, 0);
  for (const std::uint32_t s : order_) {
    if (partials_[s] < 2) continue;
    std::uint32_t best = nowhere;
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      const std::uint32_t r = (i + s) % ranks_;
      if (holds_.has(r, s) && (best == nowhere || work[r] < work[best])) best = r;
    }
    owner_[s] = best;
    work[best] += merging(s);
  }
  level_work(work);
}

// A segment counts a little even where owning it costs nothing.
std::int64_t Exchange::merging(std::uint32_t segment) const {
  return std::int64_t{ranks_} * (partials_[segment] - 2) + 1;
}

// The segments with fewest holders were given away last, perhaps to a rank that had much already.
// So the rank that has most to merge gives a segment to another holder, or changes it for one of
// its, as long as that helps.
void Exchange::level_work(std::vector<std::int64_t>& work) {
  struct Change {
    std::uint32_t given = nowhere;
    std::uint32_t to = nowhere;
    std::uint32_t taken = nowhere;
  };
  std::vector<std::vector<std::uint32_t>> owned(ranks_);
  for (std::uint32_t s = 0; s < segments_; ++s) {
    if (partials_[s] >= 2) owned[owner_[s]].push_back(s);
  }
  const auto move = [&](std::uint32_t segment, std::uint32_t from, std::uint32_t to) {
    std::erase(owned[from], segment);
    owned[to].push_back(segment);
    owner_[segment] = to;
    work[from] -= merging(segment);
    work[to] += merging(segment);
  };
  for (std::uint32_t tries = 0; tries < most_changes * ranks_; ++tries) {
    const auto most = static_cast<std::uint32_t>(std::ranges::max_element(work) - work.begin());
    Change best;
    std::int64_t least = work[most] - ranks_;  // by a merge at least
    for (const std::uint32_t s : owned[most]) {
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        if (work[r] >= least || !holds_.has(r, s)) continue;
        const auto consider = [&](std::uint32_t taken, std::int64_t moved) {
          const std::int64_t after = std::max(work[most] - moved, work[r] + moved);
          if (after >= least) return;
          least = after;
          best = {s, r, taken};
        };
        consider(nowhere, merging(s));
        for (const std::uint32_t t : owned[r]) {
          if (holds_.has(most, t)) consider(t, merging(s) - merging(t));
        }
      }
    }
    if (best.given == nowhere) return;
    move(best.given, most, best.to);
    if (best.taken != nowhere) move(best.taken, best.to, most);
  }
}

// The segments with fewest partials first, those that one rank owns apart: merged in this order,
// the first results are there soon, and can spread while others are still merged.
void Exchange::number_by_turn() {
  order_.resize(segments_);
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t s) { return partials_[s]; });
  std::vector<std::uint32_t> nth(segments_);  // of its owner's with as many partials or fewer
  std::vector<std::uint32_t> owned(ranks_, 0);
  for (const std::uint32_t s : order_) nth[s] = owned[owner_[s]]++;
  std::ranges::stable_sort(order_, {},
                           [&](std::uint32_t s) { return std::pair(partials_[s], nth[s]); });
  const auto in_order = [&](std::vector<std::uint32_t>& values) {
    std::vector<std::uint32_t> sorted(segments_);
    for (std::uint32_t i = 0; i < segments_; ++i) sorted[i] = values[order_[i]];
    values.swap(sorted);
  };
  in_order(number_);
  in_order(owner_);
  in_order(partials_);
  const BitRows held = holds_;
  holds_.reset(ranks_, segments_);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t i = 0; i < segments_; ++i) {
      if (held.has(r, order_[i])) holds_.set(r, i);
    }
  }
}

void Exchange::note_owners() {
  owned_.reset(ranks_, segments_);
  pending_.reset(ranks_, ranks_);
  std::ranges::fill(to_send_, 0U);
  for (std::uint32_t s = 0; s < segments_; ++s) owned_.set(owner_[s], s);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t s = 0; s < segments_; ++s) {
      if (owner_[s] == r || !holds_.has(r, s)) continue;
      pending_.set(r, owner_[s]);
      ++to_send_[r];
    }
  }
}

}  // namespace sibyl::clairvoyant
