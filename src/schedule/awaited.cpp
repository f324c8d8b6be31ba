// One pass over the steps in an order in which they completed.
#include "schedule/awaited.hpp"

#include <algorithm>
#include <bit>

namespace sibyl {

void AwaitedRanks::merge(std::uint32_t from, std::uint32_t into) {
  const auto source = row(from);
  const auto target = row(into);
  for (std::size_t w = 0; w < words_; ++w) target[w] |= source[w];
}

bool AwaitedRanks::all_awaited(const PlanHeader& header, std::span<const Program> programs,
                               std::span<const std::uint32_t> first_step,
                               std::span<const std::uint32_t> partner,
                               std::span<const std::uint32_t> order, std::string& problem) {
  const auto ranks = static_cast<std::size_t>(header.ranks);
  words_ = (ranks + 63) / 64;
  bits_.assign(std::size_t{first_step.back()} * words_, 0);
  dependencies_.resize(std::max(dependencies_.size(), ranks));
  std::vector<std::size_t> rank_of(first_step.back());
  for (std::size_t r = 0; r < ranks; ++r) {
    derive_dependencies(header, programs[r], dependencies_[r]);
    std::fill(rank_of.begin() + first_step[r], rank_of.begin() + first_step[r + 1], r);
  }
  for (const std::uint32_t number : order) {
    const std::size_t r = rank_of[number];
    const StepIndex index = number - first_step[r];
    const Step& step = programs[r].steps[index];
    if (step.gate == Gate::on_arrival) row(number)[r / 64] |= std::uint64_t{1} << (r % 64);
    for (const StepIndex earlier : dependencies_[r].all_of(index)) {
      merge(first_step[r] + earlier, number);
    }
    if (step.kind == StepKind::receive) merge(partner[number], number);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    all_.assign(words_, 0);
    all_[r / 64] |= std::uint64_t{1} << (r % 64);
    for (std::uint32_t number = first_step[r]; number < first_step[r + 1]; ++number) {
      for (std::size_t w = 0; w < words_; ++w) all_[w] |= row(number)[w];
    }
    for (std::size_t other = 0; other < ranks; ++other) {
      if ((all_[other / 64] >> (other % 64) & 1) != 0) continue;
      problem = "rank " + std::to_string(r) + " leaves without having waited for rank " +
                std::to_string(other);
      return false;
    }
  }
  return true;
}

}  // namespace sibyl
