// Who holds what while an exchange is scheduled, as rows of bits; see exchange.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sibyl/clairvoyant.hpp"

namespace sibyl::clairvoyant {

// Rows of bits of one length.
class BitRows {
 public:
  void reset(std::size_t rows, std::size_t bits) {
    words_ = (bits + 63) / 64;
    bits_.assign(rows * words_, 0);
  }
  std::size_t words() const { return words_; }
  std::uint64_t* row(std::size_t row) { return bits_.data() + row * words_; }
  const std::uint64_t* row(std::size_t row) const { return bits_.data() + row * words_; }
  void set(std::size_t row, std::size_t bit) { this->row(row)[bit / 64] |= one(bit); }
  void clear(std::size_t row, std::size_t bit) { this->row(row)[bit / 64] &= ~one(bit); }
  bool has(std::size_t row, std::size_t bit) const {
    return (this->row(row)[bit / 64] & one(bit)) != 0;
  }
  static std::uint64_t one(std::size_t bit) { return std::uint64_t{1} << (bit % 64); }

 private:
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

// The first bit that a and b have in common, from `begin` on and around; nowhere if none.
inline std::uint32_t first_common(const std::uint64_t* a, const std::uint64_t* b, std::size_t words,
                                  std::uint32_t begin) {
  if (words == 1) {
    const std::uint64_t both = a[0] & b[0];
    const std::uint64_t upper = both >> begin << begin;
    if (both == 0) return nowhere;
    return static_cast<std::uint32_t>(std::countr_zero(upper != 0 ? upper : both));
  }
  const std::size_t first = begin / 64;
  const std::uint64_t upper = ~std::uint64_t{0} << (begin % 64);
  for (std::size_t i = 0; i <= words; ++i) {
    const std::size_t w = first + i < words ? first + i : first + i - words;
    std::uint64_t both = a[w] & b[w];
    if (i == 0) both &= upper;
    if (i == words) both &= ~upper;
    if (both != 0)
      return static_cast<std::uint32_t>(w * 64) +
             static_cast<std::uint32_t>(std::countr_zero(both));
  }
  return nowhere;
}

class Exchange {
 public:
  Exchange(std::span<const std::uint32_t> arrivals, std::uint32_t segments, Rank source);
  ClairvoyantEvents run();

 private:
  void choose_first_owners();
  void choose_owners_among_holders();
  std::int64_t merging(std::uint32_t segment) const;
  void level_work(std::vector<std::int64_t>& work);
  void number_by_turn();
  void note_owners();
  bool step_one_round();
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t segment);
  void merge(std::uint32_t from, std::uint32_t to, std::uint32_t segment);
  void give(std::uint32_t rank, std::uint32_t segment);
  void finish(std::uint32_t segment);
  std::size_t result_words() const { return (segment_of_.size() + 63) / 64; }
  std::uint32_t newest(std::uint32_t from, std::uint32_t to) const;
  void sort_by_work();
  void sort_by_results();
  void merge_in_rotation();
  void merge_in_turn();
  void merge_for_absent_owners();
  void deliver_rare(std::uint32_t rare);
  void deliver_rest();
  std::uint32_t first_sender(std::uint32_t receiver, std::uint32_t count) const;
  void match_all();
  bool match(std::uint32_t receiver);

  std::span<const std::uint32_t> arrivals_;
  std::uint32_t ranks_;
  std::uint32_t segments_;
  Rank source_;
  std::uint32_t last_;  // arrival
  std::uint32_t round_ = 0;
  std::uint64_t left_;    // messages
  bool in_turn_ = false;  // since the last arrival

  BitRows present_;                          // one row of ranks
  BitRows free_;                             // rows of ranks: may send, may receive this round
  BitRows holds_;                            // rank: segments
  BitRows owned_;                            // rank: segments
  BitRows pending_;                          // rank: owners for whom it holds something
  BitRows results_;                          // rank: results, by the order in which they came
  BitRows before_;                           // the same as of the beginning of the round
  BitRows holders_;                          // result: ranks
  std::vector<std::uint32_t> number_;        // of a segment in the vector
  std::vector<std::uint32_t> owner_;         // of a segment
  std::vector<std::uint32_t> partials_;      // of a segment
  std::vector<std::uint32_t> to_send_;       // of a rank: what it holds and does not own
  std::vector<std::uint32_t> by_work_;       // ranks, those with most to send first
  std::vector<std::uint32_t> by_arrival_;    // ranks
  std::uint32_t arrived_ = 0;                // of them
  std::vector<std::uint32_t> by_results_;    // ranks, those with fewest results first
  std::vector<std::uint64_t> open_;          // segments whose owner may receive
  std::vector<std::uint32_t> segment_of_;    // result: in the vector
  std::vector<std::uint32_t> holder_count_;  // of a result
  std::vector<std::uint32_t> result_count_;  // of a rank
  std::vector<std::uint32_t> spreading_;     // results that some rank lacks
  std::vector<std::uint32_t> finished_;      // segments whose sum is complete after this round
  std::vector<std::uint32_t> senders_;
  std::vector<std::uint32_t> receivers_;
  std::vector<std::uint32_t> matched_;  // receiver of a sender of senders_
  std::uint64_t unmatched_ = 0;         // senders of senders_
  std::uint64_t visited_ = 0;           // senders on a path
  std::uint32_t searched_ = 0;          // senders, for the receiver that is matched
  std::uint32_t failures_ = 0;          // receivers for whom no path was found in this round
  std::vector<std::uint32_t> order_;
  ClairvoyantEvents events_;
};

}  // namespace sibyl::clairvoyant
